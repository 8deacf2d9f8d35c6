//! Words of English, as parsers know them: common, of one part of speech for the most part, nouns
//! in the singular and verbs in the past, so that any subject agrees with any verb.

use crate::language::symbol::Symbol;

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
