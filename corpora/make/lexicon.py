"""Words of the sentences that `corpora.py` draws: what goes with what.

A phrase of a verb tells how, when, where or for whom. One of a noun tells which.
"""

ARTICLES = {"a", "an", "the", "my", "her", "his", "two", "three", "both"}

SUBJECTS = [
    "Anna", "Peter", "Maria", "The cook", "The old miller", "My aunt", "Her brother", "The doctor",
    "The teacher", "A tall sailor", "The farmer", "Two children", "The gardener", "My neighbour",
    "The young painter", "The queen",
]  # fmt: skip

TIMES = ["on Monday", "on Sunday", "after lunch", "before breakfast", "at noon", "during the storm"]
SEASONS = ["in summer", "in winter", "during the holidays", "after the harvest"]
FOR = ["for the guests", "for his sister", "for the children", "for my grandmother"]

# Objects, and phrases of which a sentence takes one of each list at most.
VERBS = {
    "cut": (
        ["the bread", "a cake", "the cheese", "the rope", "the apples"],
        [["with a knife", "with the scissors"], ["into pieces", "into slices"], TIMES, FOR],
    ),
    "ate": (
        ["the soup", "a pizza", "the salad", "a cake", "the pie"],
        [
            ["with a spoon", "with a fork", "with both hands"],
            ["in the garden", "in the kitchen"],
            TIMES,
        ],
    ),
    "bought": (
        ["the bread", "a bicycle", "a coat", "the lamp", "a map", "the cheese"],
        [["from the dealer", "from a farmer"], ["at the market", "at the station"], TIMES, FOR],
    ),
    "saw": (
        ["the birds", "a man", "the horse", "a ship", "the fox"],
        [["with a telescope", "with her binoculars"], ["from the hill", "from the balcony"], TIMES],
    ),
    "painted": (
        ["the house", "the fence", "a boat", "the door", "a portrait"],
        [["with a brush", "with both hands"], SEASONS, FOR],
    ),
    "sent": (
        ["a letter", "the parcel", "a photo", "the book", "the map"],
        [["to the museum", "to the mayor", "to her cousin"], ["by train", "by post"], TIMES],
    ),
    "carried": (
        ["the basket", "a piano", "the suitcase", "the box"],
        [["to the station", "to the attic"], ["through the garden", "through the tunnel"], TIMES],
    ),
    "found": (
        ["a key", "the coin", "the letter", "a kitten", "the map"],
        [["under the bed", "under the bridge"], ["behind the stove", "behind the barn"], TIMES],
    ),
    "repaired": (
        ["the bicycle", "the clock", "the roof", "a boat", "the radio"],
        [
            ["with a hammer", "with glue", "with wire"],
            ["in the workshop", "in the garage"],
            SEASONS,
            FOR,
        ],
    ),
    "read": (
        ["the book", "a letter", "the story", "the report", "a poem"],
        [["to the children", "to the class"], ["without glasses", "with interest"], TIMES],
    ),
    "opened": (
        ["the door", "a box", "the window", "the bottle", "the tin"],
        [
            ["with a key", "with a knife", "with both hands"],
            ["without permission", "for the guests"],
            TIMES,
        ],
    ),
    "wrote": (
        ["a letter", "the book", "a poem", "the report", "a story"],
        [["with a pencil", "with a pen"], ["in the library", "in the kitchen"], SEASONS, FOR],
    ),
    "washed": (
        ["the window", "a shirt", "the dog", "the car", "the horse"],
        [["with soap", "with a sponge"], ["in the river", "in the yard"], TIMES],
    ),
    "built": (
        ["a house", "the bridge", "a tower", "a boat", "a hut"],
        [["with bricks", "with a hammer"], SEASONS, FOR],
    ),
}

NOUNS = {
    "soup": ["with noodles", "with beans", "of lentils"],
    "cake": ["with cherries", "with candles", "from the bakery", "that burned"],
    "pizza": ["with olives", "with mushrooms", "that burned"],
    "salad": ["with tomatoes", "with nuts"],
    "pie": ["with cherries", "with mushrooms", "from the bakery"],
    "bread": ["with nuts", "with seeds", "from the bakery"],
    "cheese": ["from Holland", "with holes"],
    "apples": ["from the orchard", "with spots"],
    "rope": ["of silk", "from the ship"],
    "bicycle": ["with a bell", "with a basket", "of the postman"],
    "coat": ["with buttons", "with a hood", "of wool"],
    "lamp": ["with a shade", "from Holland", "that flickered"],
    "map": ["of the island", "of the city", "with a hole"],
    "birds": ["with feathers", "on the roof", "in the cage", "that sang"],
    "man": ["with a beard", "with an umbrella", "from the village", "that whistled"],
    "horse": ["with a saddle", "of the farmer", "that limped"],
    "ship": ["with sails", "from Norway", "that sank"],
    "fox": ["with a scar", "that limped"],
    "house": ["with a chimney", "with a balcony", "on the hill", "of the mayor"],
    "fence": ["around the garden", "around the yard"],
    "boat": ["with sails", "with a motor", "of the fisherman", "that sank"],
    "door": ["of the barn", "of the church", "to the cellar"],
    "portrait": ["of the king", "of a horse"],
    "letter": ["from the bank", "about the roof", "with a stamp", "that vanished"],
    "parcel": ["with a stamp", "from the shop", "that vanished"],
    "photo": ["of the bridge", "of a man", "of the birds"],
    "book": ["about birds", "about the ship", "with pictures", "from the library"],
    "piano": ["with pedals", "of the teacher"],
    "suitcase": ["with wheels", "of the postman", "that vanished"],
    "box": ["of chocolates", "of nails", "with a lid"],
    "key": ["to the cellar", "of the house", "to a box"],
    "coin": ["with a hole", "from Rome"],
    "kitten": ["with stripes", "that limped"],
    "clock": ["of the church", "with a bell"],
    "roof": ["of the barn", "of the church", "with a chimney"],
    "radio": ["with an antenna", "that whistled"],
    "story": ["about a fox", "about a man", "about ghosts"],
    "report": ["about the bridge", "on trains"],
    "poem": ["about the king", "on spring"],
    "window": ["of the tower", "of the barn"],
    "bottle": ["of wine", "of ink", "with a cork"],
    "tin": ["of paint", "of beans", "with a lid"],
    "shirt": ["with stripes", "with buttons", "of silk"],
    "dog": ["with stripes", "of the farmer", "that limped"],
    "car": ["of the mayor", "with a motor"],
    "bridge": ["over the canal", "over the railway"],
    "tower": ["with bells", "of the church"],
    "hut": ["of straw", "of logs", "with a chimney"],
    "garden": ["of the mayor", "with a pond", "behind the church"],
    "hill": ["behind the village", "with a tower"],
    "village": ["by the lake", "behind the hill", "with a church"],
    "library": ["of the village", "with a balcony"],
    "bakery": ["in the village", "by the station"],
    "shop": ["in the village", "by the station"],
    "orchard": ["behind the house", "of the teacher"],
    "cellar": ["of the house", "of the church"],
    "postman": ["with a beard", "from the village"],
    "fisherman": ["with an umbrella", "from the village"],
    "yard": ["behind the barn", "with a pond"],
    "cage": ["by the window", "with a lock"],
    "balcony": ["of the house", "with flowers"],
    "basket": ["of plums", "of eggs", "with a lid"],
    "church": ["on the hill", "with bells"],
    "barn": ["on the hill", "with holes"],
    "farmer": ["with a beard", "from the village"],
    "mayor": ["with a beard", "that whistled"],
    "king": ["with a beard", "of Norway"],
    "island": ["with a tower", "that sank"],
}
