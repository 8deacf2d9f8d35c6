"""Facts, pages and questions of the documents that `corpora.py` makes."""

KEYS = ["food", "home", "size", "years", "young"]

FACTS = {
    "badger": ("worms, roots and berries", "setts in woods and hedges", "12 kilograms", "14", "three cubs"),
    "bat": ("moths and midges", "caves and attics", "10 grams", "20", "one pup"),
    "bear": ("berries, salmon and honey", "forests and mountains", "200 kilograms", "30", "two cubs"),
    "beaver": ("bark, twigs and water plants", "lodges in streams", "20 kilograms", "12", "four kits"),
    "bee": ("nectar and pollen", "hives and hollow trees", "100 milligrams", "5", "thousands of larvae"),
    "camel": ("thorns, grass and dates", "deserts", "500 kilograms", "40", "one calf"),
    "cat": ("mice, birds and fish", "houses and barns", "4 kilograms", "15", "four kittens"),
    "crab": ("snails, algae and mussels", "beaches and reefs", "500 grams", "8", "millions of larvae"),
    "crow": ("seeds, worms and eggs", "fields and towns", "500 grams", "15", "five chicks"),
    "deer": ("grass, buds and acorns", "woods and meadows", "80 kilograms", "15", "one fawn"),
    "dolphin": ("herring and squid", "warm seas", "150 kilograms", "40", "one calf"),
    "duck": ("snails, weeds and seeds", "ponds and rivers", "1 kilogram", "10", "ten ducklings"),
    "eagle": ("rabbits, fish and grouse", "cliffs and tall pines", "5 kilograms", "25", "two chicks"),
    "elephant": ("leaves, bark and fruit", "savannas and forests", "5,000 kilograms", "65", "one calf"),
    "fox": ("voles, rabbits and berries", "dens in fields and parks", "6 kilograms", "8", "five cubs"),
    "frog": ("flies, slugs and worms", "ponds and wet meadows", "25 grams", "8", "hundreds of tadpoles"),
    "goat": ("leaves, thorns and hay", "rocky hills and farms", "60 kilograms", "15", "two kids"),
    "goose": ("grass, roots and grain", "marshes and lakes", "4 kilograms", "20", "six goslings"),
    "hare": ("grass, herbs and bark", "open fields", "4 kilograms", "7", "three leverets"),
    "hedgehog": ("slugs, beetles and worms", "gardens and hedges", "800 grams", "5", "four hoglets"),
    "horse": ("grass, hay and oats", "steppes and stables", "500 kilograms", "28", "one foal"),
    "lizard": ("crickets, spiders and flies", "warm walls and heaths", "15 grams", "6", "eight hatchlings"),
    "mole": ("worms and larvae", "tunnels under meadows", "100 grams", "4", "four pups"),
    "moose": ("twigs, willows and water plants", "northern forests", "450 kilograms", "20", "one calf"),
    "mouse": ("seeds, cheese and grain", "barns and fields", "20 grams", "2", "seven pups"),
    "otter": ("fish, crabs and frogs", "rivers and coasts", "9 kilograms", "12", "two cubs"),
    "owl": ("mice, voles and moths", "barns and old woods", "400 grams", "15", "four owlets"),
    "parrot": ("nuts, fruit and seeds", "tropical forests", "500 grams", "60", "three chicks"),
    "penguin": ("krill, fish and squid", "cold coasts and ice", "15 kilograms", "20", "one chick"),
    "pig": ("roots, acorns and potatoes", "farms and woods", "150 kilograms", "15", "ten piglets"),
    "rabbit": ("grass, clover and carrots", "burrows and dunes", "2 kilograms", "9", "six kits"),
    "salmon": ("insects, shrimps and herring", "rivers and oceans", "6 kilograms", "6", "thousands of fry"),
    "seal": ("herring, cod and crabs", "sandbanks and cold seas", "100 kilograms", "30", "one pup"),
    "sheep": ("grass, clover and hay", "pastures and hills", "70 kilograms", "11", "two lambs"),
    "snail": ("lettuce, algae and moss", "damp gardens", "20 grams", "5", "forty eggs"),
    "spider": ("flies, moths and crickets", "webs in sheds and bushes", "1 gram", "2", "hundreds of spiderlings"),
    "squirrel": ("nuts, acorns and buds", "trees in parks and woods", "300 grams", "7", "four kittens"),
    "swan": ("water plants, snails and grain", "lakes and slow rivers", "10 kilograms", "20", "five cygnets"),
    "toad": ("ants, slugs and beetles", "damp woods and cellars", "50 grams", "11", "thousands of tadpoles"),
    "wolf": ("deer, hares and moose", "forests and tundra", "40 kilograms", "10", "five pups"),
}  # fmt: skip
FACTS = {animal: dict(zip(KEYS, facts)) for animal, facts in FACTS.items()}

MANY = {
    "deer": "deer", "fox": "foxes", "goose": "geese", "moose": "moose", "mouse": "mice",
    "salmon": "salmon", "sheep": "sheep", "wolf": "wolves",
}  # fmt: skip

# Titles, bodies and questions of each subject.
SUBJECTS = {
    "food": (
        ["the diet of {many}", "{many}: food and hunger", "meals of the {one}"],
        [
            "{many} live on {food}. In a cold year they take what is left.",
            "The stomach of a {one} has held {food}. Young ones begin with milk or crumbs.",
        ],
        ["what does the {one} eat", "which snack do {many} like", "what do {many} feed on"],
    ),
    "home": (
        ["the habitat of the {one}", "{many} and their shelter", "a map of {many}"],
        [
            "Look for {home}. In spring a {one} marks its place.",
            "You meet the {one} in {home}, where people leave it alone.",
        ],
        ["where does the {one} live", "where can I find {many}", "in which places do {many} sleep"],
    ),
    "size": (
        ["the weight of {many}", "the {one} on a scale", "{many} in numbers: weight and length"],
        [
            "A grown {one} weighs {size}, a little more before winter.",
            "We put a {one} on the table: {size}. The female is often lighter.",
        ],
        ["how big is the {one}", "how heavy do {many} get", "how large are {many}"],
    ),
    "years": (
        ["the lifespan of the {one}", "the age of {many}", "{many} in old age"],
        [
            "After {years} years most are gone. Cold and hunger take the weak.",
            "The oldest {one} in our list reached {years} years in a park.",
        ],
        ["how long do {many} live", "how old does a {one} become", "when does a {one} die"],
    ),
    "young": (
        ["the family of the {one}", "{many}: birth and nursery", "raising {many}"],
        [
            "Each spring brings {young}. The mother guards them for weeks.",
            "There may be {young} at once. They are blind or slow at first.",
        ],
        ["how many babies does the {one} have", "what are the children of {many} called", "when do {many} have babies"],
    ),
}  # fmt: skip

# The page on all in short.
SHORT = [
    "The {one} lives in {home}.", "It eats {food}.", "It weighs {size}.", "It lives for {years} years.",
    "It has {young}.",
]  # fmt: skip

STOP = set(
    "a an and are as at be by can do does i in is it its of on or the their they to what which".split()
)

# Words of several as those of one.
ONE_OF_MANY = {many: one for one, many in MANY.items()} | {
    f"{one}s": one for one in FACTS if one not in MANY
}
