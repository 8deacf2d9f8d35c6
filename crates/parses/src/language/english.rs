//! Treebanks of English sentences with known dependencies, to be parsed by a real parser.
//!
//! Sentences are drawn from the grammar of [`generate`](super::generate) with a lexicon of real
//! words, so that prepositional phrases, coordinations and relative clauses attach in several ways,
//! and so that words tell which is right: words have favourites, which other sentences share. Sense
//! they need not make.
//!
//! Dependencies follow surface-syntactic Universal Dependencies where function words are
//! concerned: a preposition governs its noun and depends on what the phrase modifies. That is also
//! what links of Link Grammar join, so their arcs can be compared.

use std::collections::HashSet;

use serde::Serialize;

use super::CorpusError;
use super::candidates::{Drawn, draw};
use super::grammar::{Affinity, Grammar, Production, Symbol};
use super::lexicon::Lexicon;
use super::options::within;
use crate::random::Draws;
use crate::treebank::{Sentence, Token, Word};

/// Sentences drawn in vain before the options are given up.
const PATIENCE: u64 = 200_000;

/// What treebank to draw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct TreebankOptions {
    /// Sentences, all different, from 1 to 1000000
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Self::default().sentences))]
    pub sentences: usize,
    /// Seed of preferences and sentences
    #[cfg_attr(feature = "clap", arg(long, value_name = "SEED"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Self::default().seed))]
    pub seed: u64,
    /// Fewest words of a sentence, from 1 to --max-length; the full stop does not count
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Self::default().min_length))]
    pub min_length: usize,
    /// Most words of a sentence, from 6 to 60
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Self::default().max_length))]
    pub max_length: usize,
    /// Percentage of words that follow the preferences of their governors, from 0 to 100
    #[cfg_attr(feature = "clap", arg(long, value_name = "PERCENT"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Self::default().attraction))]
    pub attraction: u32,
}

impl Default for TreebankOptions {
    fn default() -> Self {
        Self {
            sentences: 240,
            seed: 1,
            min_length: 10,
            max_length: 18,
            attraction: 95,
        }
    }
}

impl TreebankOptions {
    /// Refuses options outside their ranges.
    ///
    /// # Errors
    /// [`CorpusError::Option`] with the name of the option.
    pub fn validate(&self) -> Result<(), CorpusError> {
        within("sentences", self.sentences, 1, 1_000_000)?;
        within("max_length", self.max_length, 6, 60)?;
        within("min_length", self.min_length, 1, self.max_length)?;
        within("attraction", self.attraction as usize, 0, 100)
    }
}

/// Draws a treebank; the same options give the same sentences on every platform.
///
/// # Errors
/// [`CorpusError`] for options out of range, and for lengths so rare that sentences run out.
///
/// ```
/// use rankrls_parses::language::english::{TreebankOptions, treebank};
///
/// let options = TreebankOptions { sentences: 3, ..TreebankOptions::default() };
/// for sentence in treebank(&options)? {
///     println!("{}", sentence.text());
/// }
/// # Ok::<(), rankrls_parses::language::CorpusError>(())
/// ```
pub fn treebank(options: &TreebankOptions) -> Result<Vec<Sentence>, CorpusError> {
    options.validate()?;
    let lexicon = Lexicon::of_words(options.seed, &OPEN, CONJUNCTIONS, options.attraction);
    let mut sentences = Vec::with_capacity(options.sentences);
    let mut seen = HashSet::new();
    let (mut number, mut last) = (0, 0);
    while sentences.len() < options.sentences {
        number += 1;
        if number - last > PATIENCE {
            return Err(CorpusError::Exhausted {
                sentences: PATIENCE,
            });
        }
        let mut draws = Draws::new(options.seed, number);
        let Some(drawn) = draw(&lexicon, options.max_length, &mut draws) else {
            continue;
        };
        if drawn.words.len() < options.min_length || !seen.insert(drawn.words.clone()) {
            continue;
        }
        last = number;
        let id = format!("s{}", sentences.len() + 1);
        sentences.push(sentence(&lexicon, &drawn).with_id(id));
    }
    Ok(sentences)
}

/// The sentence with its dependencies, a capital at its beginning and a full stop at its end.
fn sentence(lexicon: &Lexicon, drawn: &Drawn) -> Sentence {
    let dependencies = dependencies(drawn);
    let count = drawn.words.len();
    let mut tokens: Vec<Token> = Vec::with_capacity(count + 1);
    for (position, dependency) in dependencies.iter().enumerate() {
        let tag = drawn.tree.tags()[position];
        tokens.push(Token {
            surface: form(lexicon, drawn, position),
            space_after: position + 1 < count,
            words: vec![word(part_of_speech(tag), dependency.head, dependency.label)],
        });
    }
    let root = dependencies
        .iter()
        .position(|dependency| dependency.head == 0);
    let root = root.map_or(0, |root| {
        u32::try_from(root + 1).expect("sentences are short")
    });
    tokens.push(Token {
        surface: ".".to_owned(),
        space_after: true,
        words: vec![word("PUNCT", root, "punct")],
    });
    for token in &mut tokens {
        token.words[0].form.clone_from(&token.surface);
    }
    Sentence::new(tokens)
}

fn word(tag: &str, head: u32, label: &str) -> Word {
    Word {
        form: String::new(),
        tag: Some(tag.to_owned()),
        head,
        label: label.to_owned(),
        letters: 0..0,
    }
}

/// The form of a word where it stands.
fn form(lexicon: &Lexicon, drawn: &Drawn, position: usize) -> String {
    let form = |position: usize| lexicon.form(drawn.words[position]);
    let vowel = |form: &str| form.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']);
    let mut written = form(position).to_owned();
    let silent = |form: &str| form.starts_with("honest");
    if written == "a" && position + 1 < drawn.words.len() {
        let next = form(position + 1);
        if vowel(next) || silent(next) {
            written.push('n');
        }
    }
    if position == 0 {
        written[..1].make_ascii_uppercase();
    }
    written
}

/// A word's head, from 1, and its relation.
#[derive(Debug, Clone, Copy)]
struct Dependency {
    head: u32,
    label: &'static str,
}

fn dependencies(drawn: &Drawn) -> Vec<Dependency> {
    let root = Dependency {
        head: 0,
        label: "root",
    };
    let mut dependencies = vec![root; drawn.words.len()];
    for (phrase, number) in drawn.tree.phrases() {
        let production = Grammar::shared().production(number);
        let head_child = production.head();
        for (place, &child) in phrase.children().iter().enumerate() {
            if place == head_child {
                continue;
            }
            let word = drawn.tree.node(child).head;
            // A conjunction belongs to what it joins to the first.
            let head = if production.children[place].0 == Symbol::Conjunction {
                drawn.tree.node(phrase.children()[place + 1]).head
            } else {
                phrase.head
            };
            dependencies[usize::from(word)] = Dependency {
                head: u32::from(head) + 1,
                label: relation(production, place),
            };
        }
    }
    dependencies
}

/// The relation of the child at `place` to the head.
fn relation(production: &Production, place: usize) -> &'static str {
    use Symbol::{
        Adjective, Adverb, Complementiser, Conjunction, Determiner, Ditransitive, NounPhrase,
        PrepositionalPhrase, RelativeClause, Relativiser, Sentence,
    };
    let (child, affinity) = production.children[place];
    let (head, _) = production.children[production.head()];
    let object_clause = production
        .children
        .iter()
        .any(|c| c.1 == Affinity::HeadLackingObject);
    let coordination = production.children.iter().any(|c| c.0 == Conjunction);
    match child {
        Conjunction => "cc",
        _ if coordination => "conj",
        Determiner => "det",
        Complementiser => "mark",
        Relativiser if object_clause => "comp:obj",
        Relativiser => "subj",
        Adjective | Adverb => "mod",
        PrepositionalPhrase => "udep",
        RelativeClause => "mod:relcl",
        NounPhrase if production.left == Sentence || object_clause => "subj",
        NounPhrase if head == Ditransitive && affinity == Affinity::Subject => "comp:obl",
        // Objects of verbs and prepositions, and clauses that are one.
        _ => "comp:obj",
    }
}

/// The part of speech as Universal Dependencies have it.
fn part_of_speech(symbol: Symbol) -> &'static str {
    match symbol {
        Symbol::Noun => "NOUN",
        Symbol::ProperNoun => "PROPN",
        Symbol::Adjective => "ADJ",
        Symbol::Adverb => "ADV",
        Symbol::Determiner => "DET",
        Symbol::Preposition => "ADP",
        Symbol::Conjunction => "CCONJ",
        Symbol::Relativiser => "PRON",
        Symbol::Complementiser => "SCONJ",
        _ => "VERB",
    }
}

// Words of English, as parsers know them: common, of one part of speech for the most part, nouns
// in the singular and verbs in the past, so that any subject agrees with any verb.

/// The words of every open class with blanks between, those likeliest to be drawn first.
pub(super) const OPEN: [(Symbol, &str); 8] = [
    (Symbol::Noun, NOUNS),
    (Symbol::ProperNoun, NAMES),
    (Symbol::Transitive, TRANSITIVE),
    (Symbol::Intransitive, INTRANSITIVE),
    (Symbol::Ditransitive, DITRANSITIVE),
    (Symbol::Reporting, REPORTING),
    (Symbol::Adjective, ADJECTIVES),
    (Symbol::Adverb, ADVERBS),
];

pub(super) const CONJUNCTIONS: &[&str] = &["and", "or"];

const NOUNS: &str = "\
    teacher garden doctor letter window farmer river artist market bridge lawyer picture student \
    kitchen sailor village baker machine singer forest captain table writer island judge bottle \
    painter mountain soldier basket driver castle nurse engine poet harbour king ladder queen \
    tower lion camera tiger hospital horse library monkey school rabbit station donkey museum \
    sheep theatre eagle church parrot factory spider office carpenter guitar gardener violin \
    scientist telescope musician piano actor hammer banker mirror barber blanket butcher candle \
    clerk carpet cousin curtain daughter cupboard dentist drawer editor envelope emperor fence \
    expert fountain father jacket guest kettle hunter lantern husband magazine knight medal \
    mayor necklace mechanic needle merchant notebook miller oven minister package mother pencil \
    neighbour pillow officer pistol orphan pocket owner portrait passenger ribbon patient \
    sandwich peasant saucer pilot scarf pirate shovel priest statue prince suitcase princess \
    sword professor teapot prisoner ticket reporter towel scholar trumpet secretary umbrella \
    senator vase servant violet shepherd wagon sister wallet son barrel spy bicycle stranger \
    bucket surgeon cabin tailor cottage thief desert tourist diamond trader document traveller \
    farm uncle field victim flower waiter garage widow gate winner grave witness hotel wolf lake \
    woman meadow worker monument apple newspaper banana novel bear orchard beetle palace bird \
    prison boat restaurant camel ring carrot road cat roof chicken room cow shop crow song deer \
    square dog street dolphin temple dragon tent duck tunnel elephant valley fox wall frog \
    warehouse giraffe shed goat workshop goose yard hen zoo kitten airport lamb bakery leopard \
    balcony lizard bank mouse beach owl bedroom ox boulevard penguin cafe pig canal pigeon cave \
    pony cellar puppy chapel rat college raven corridor salmon courtyard seal dock shark embassy \
    snail estate snake gallery sparrow hill squirrel house swan hut turkey laboratory turtle \
    mansion whale mill zebra monastery";

const NAMES: &str = "\
    John Mary Peter Susan David Laura Robert Helen Michael Anna James Alice Thomas Emma Paul \
    Julia George Sarah Henry Martha Richard Nancy Edward Diana Charles Emily Daniel Rachel \
    Steven Karen Kevin Linda Brian Sandra Jason Monica Simon Teresa Andrew Victoria Patrick \
    Barbara Philip Catherine Oliver Margaret Samuel Judith Walter Rebecca Arthur Caroline Albert \
    Christine Martin Elizabeth Stephen Deborah Vincent Pamela London Paris Berlin Madrid Vienna \
    Dublin Boston Chicago Moscow Tokyo";

const TRANSITIVE: &str = "\
    saw found admired bought watched carried painted followed visited described ignored hid \
    noticed destroyed discovered repaired chased cleaned caught stole attacked borrowed avoided \
    broke blamed built cooked copied defended delivered designed dropped entertained examined \
    feared forgot frightened guarded hated helped hired inspected interviewed invited kicked \
    killed kissed liked loved lifted measured met mentioned moved murdered needed obeyed \
    observed opened ordered packed photographed praised protected pulled punished pushed \
    questioned recognized rejected remembered removed rescued respected sold searched studied \
    supported surprised tested threatened threw touched trained trusted used wanted warned \
    washed welcomed";

const INTRANSITIVE: &str = "\
    slept laughed arrived disappeared fell smiled waited walked danced cried died escaped \
    fainted hesitated jumped knelt lay lived marched paused prayed remained rested returned rose \
    sat screamed shouted sneezed snored stood stumbled suffered swam talked trembled vanished \
    wept whispered yawned";

const DITRANSITIVE: &str = "\
    gave sent showed offered handed brought lent promised taught told";

const REPORTING: &str = "\
    asked wondered knew discussed guessed explained understood";

const ADJECTIVES: &str = "\
    old small young happy large famous tall quiet rich strange poor brave dirty clever heavy \
    foolish beautiful angry ancient lazy broken nervous cheap proud dangerous polite dusty rude \
    elegant sad empty selfish enormous shy expensive silly fragile stubborn huge tired modern \
    wise narrow cruel pretty curious rusty eager sharp friendly tiny generous ugly gentle \
    valuable greedy wooden honest yellow hungry blue innocent green jealous purple lonely red \
    loyal white playful";

const ADVERBS: &str = "\
    quickly slowly quietly yesterday suddenly carefully often secretly happily sadly again \
    angrily bravely calmly eagerly easily gently immediately loudly nervously patiently politely \
    proudly rarely recently silently together twice violently well";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::treebank::conllu;

    #[test]
    fn sentences_are_trees_that_are_read_back() {
        let options = TreebankOptions {
            sentences: 200,
            ..TreebankOptions::default()
        };
        let sentences = treebank(&options).unwrap();
        let mut text = Vec::new();
        conllu::write(&sentences, &mut text).unwrap();
        let read: Vec<_> = conllu::sentences(&text, "f").collect();
        assert_eq!(read.len(), 200);
        for (read, written) in read.into_iter().zip(&sentences) {
            let read = read.unwrap();
            assert_eq!(read.words(), written.words());
            assert!((11..=19).contains(&read.words().len()));
            let roots = read.words().iter().filter(|word| word.head == 0);
            assert_eq!(roots.count(), 1);
        }
    }

    #[test]
    fn words_are_distinct_and_take_the_right_article() {
        let mut seen = HashSet::new();
        for (_, words) in OPEN {
            for word in words.split_whitespace() {
                assert!(seen.insert(word), "{word} is there twice");
                assert!(word.is_ascii(), "{word}");
            }
        }
        assert!(seen.len() > 600, "{}", seen.len());
        let sentences = treebank(&TreebankOptions::default()).unwrap();
        for sentence in sentences {
            let text = sentence.text();
            assert!(
                text.starts_with(char::is_uppercase) && text.ends_with('.'),
                "{text}"
            );
            assert!(
                !text.contains(" a a") && !text.contains(" a honest"),
                "{text}"
            );
        }
    }

    #[test]
    fn options_out_of_range_are_named() {
        let options = TreebankOptions {
            sentences: 0,
            ..TreebankOptions::default()
        };
        assert!(treebank(&options).is_err());
    }
}
