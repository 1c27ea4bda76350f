// Detects common passwords. Loaded when a password is set, never for a sign-in. Substitutions and additions are undone, so each
// word covers hundreds of passwords.

/** The most frequent words and key sequences in published lists of leaked passwords. */
const WORDS = `
password passwort passwd pass passw0rd passphrase parola senha contrasena motdepasse wachtwoord haslo heslo salasana
admin administrator administrador root system sysadmin user username usuario guest test tester testing demo default
login logon signin welcome welcomeback willkommen bienvenue bienvenido hello hallo hola salut ciao access letmein
openup opensesame sesame secret geheim secreto changeme changeit change temp temporary initial master manager
superuser super supervisor security secure private public internet intranet network server service account office
company business finance insurance policy broker agent claims customer client employee staff support helpdesk
qwerty qwertz azerty qwert asdf asdfg asdfgh asdfghjkl zxcv zxcvb zxcvbn zxcvbnm yxcvbnm qwer wasd qazwsx qazwsxedc
abc abcd abcde abcdef abc123 aaa xxx zzz iloveyou ilove loveyou lovely love lover loveme lovers forever always
together sweetheart sweety sweetie sweet honey darling baby babygirl babyboy babe angel angels angelo princess
prince queen king kingdom royal crown diamond gold golden silver platinum crystal pearl ruby sapphire emerald
sunshine sunset sunrise sunny summer winter spring autumn fall january february march april june july august
september october november december monday tuesday wednesday thursday friday saturday sunday today tomorrow
yesterday morning evening night midnight moonlight moon star stars starlight sky heaven ocean island beach river
mountain forest garden flower flowers rose roses lily daisy jasmine violet orchid tulip sunflower butterfly dolphin
dolphins dragon dragons tiger tigers lion lions eagle eagles falcon hawk wolf wolves panther cougar bear bears monkey
gorilla donkey horse horses mustang pony rabbit bunny kitten kitty cat cats dog dogs doggy puppy buddy buster max
bailey charlie cookie cookies coffee chocolate vanilla caramel cherry strawberry banana orange apple apples lemon
peach melon pineapple cinnamon pepper ginger sugar candy cheese pizza pasta burger chicken turkey bacon butter
football soccer baseball basketball hockey tennis golf rugby cricket volleyball swimming running fitness runner
player players champion champions winner winners victory legend hero heroes superman batman spiderman ironman
wonderwoman superstar rockstar popstar starwars startrek skywalker vader yoda jedi matrix terminator gandalf frodo
hobbit pokemon pikachu mario luigi zelda sonic minecraft fortnite roblox warcraft starcraft diablo counterstrike
playstation nintendo xbox gamer gaming game games lucky luckyone fortune jackpot poker casino joker magic magical
wizard witch ghost phantom shadow shadows killer hunter ranger soldier warrior ninja samurai pirate viking knight
knights trooper sniper gunner captain major general sergeant marine marines army navy airforce police firefighter
doctor nurse teacher student school college university class family mother father mommy daddy mama papa sister
brother brothers grandma grandpa wife husband friend friends bestfriend girl girls boy boys woman women man men
people person human world earth peace freedom liberty justice truth honor glory hope faith grace mercy joy happy
happiness smile smiley laugh lucky blessed blessing jesus jesuschrist christ christian church bible gospel holy spirit
god godisgood allah mohammed muhammad ahmed mustafa ibrahim abdullah mohamed krishna buddha shiva ganesh
michael jordan jordan23 jennifer jessica ashley amanda nicole michelle stephanie samantha elizabeth melissa danielle
rebecca rachel sarah hannah emily emma olivia sophia isabella victoria natalie vanessa veronica patricia barbara
linda susan karen nancy sandra donna carol laura maria marie anna anne julia juliana carolina christina katherine
catherine kathleen margaret martina monica angela andrea alexandra alexandria alexander alexis alex andrew anthony
antonio benjamin brandon brian charles chris christian christopher daniel david dennis donald douglas edward eric
francis francisco frank gabriel george gregory harry harold henry jack jackson jacob james jason jeffrey jeremy john
johnny jonathan jose joseph joshua juan justin kevin larry leonardo louis lucas luis marcus mark martin martinez matthew
maverick mike miguel nathan nicholas oliver oscar patrick paul peter philip raymond rafael richard robert roberto
roger ronald ryan samuel samson scott sebastian simon stephen steven stewart thomas timothy travis tyler victor vincent
walter warren wayne william williams wilson zachary johnson smith miller davis garcia rodriguez hernandez lopez gonzalez
anderson taylor moore thompson white harris clark lewis robinson walker young allen wright hill green adams baker
nelson carter mitchell turner phillips campbell parker evans edwards collins murphy cooper bennett hughes foster
america american england english ireland irish scotland london paris berlin germany deutschland france italia italy
spain espana mexico brasil brazil argentina canada texas california florida chicago newyork boston dallas houston
phoenix denver seattle atlanta miami vegas lasvegas hollywood broadway brooklyn manhattan sydney australia tokyo japan
china india pakistan russia turkey istanbul egypt africa nigeria europe asia europa
arsenal chelsea liverpool manchester united manunited mancity tottenham everton celtic rangers barcelona realmadrid
juventus milan intermilan bayern dortmund schalke ajax benfica galatasaray fenerbahce besiktas cowboys steelers packers
patriots raiders redskins yankees redsox lakers celtics bulls ferrari porsche mercedes corvette camaro chevrolet chevy
toyota honda yamaha suzuki kawasaki harley harleydavidson volvo audi ford mazda nissan volkswagen google facebook
twitter instagram youtube linkedin microsoft windows macintosh computer laptop desktop keyboard monitor printer
samsung iphone android nokia motorola sony adobe oracle database linux ubuntu debian fedora unix solaris cisco juniper
photoshop chrome firefox mozilla explorer netscape yahoo hotmail gmail outlook email mail message phone telephone
mobile wireless bluetooth password wifi router switch hacker hacked hacking cracker crypto bitcoin ethereum money cash
dollar dollars millionaire billion bank banking credit visa mastercard paypal amazon netflix spotify disney mickey
mickeymouse minnie donald donaldduck goofy pluto snoopy garfield scooby scoobydoo tweety tinkerbell cinderella nemo
shrek simba pooh winnie barbie hellokitty spongebob patrick simpsons homer bart naruto sasuke goku vegeta sakura anime
metallica slipknot nirvana greenday blink linkinpark eminem tupac rihanna beyonce shakira madonna elvis beatles
lennon queen pinkfloyd zeppelin acdc ironmaiden slayer pantera guitar piano drums violin music musica musical dance
dancer dancing singer song melody rhythm rock rocknroll hiphop reggae jazz blues metal punk techno party
blue black red green yellow purple pink brown gray grey white silver rainbow color colors dark darkness light lightning
thunder storm hurricane tornado volcano fire firefly phoenix ice snow snowball snowman snowflake frost rain raindrop
power powerful strong strength energy dynamite explosion rocket space galaxy universe cosmos planet mars jupiter saturn
venus mercury apollo zeus athena hercules achilles poseidon neptune titan titanic atlantis olympus spartan sparta
trustno one trustnoone trustme believe dream dreams dreamer destiny fantasy imagine inspire passion desire sexy hot
hottie cutie cute pretty beautiful gorgeous handsome beauty model fashion style supermodel whatever nothing something
anything everything everyone nobody somebody someone forget remember forgotten nevermind never ever maybe please thanks
thankyou goodbye goodluck goodmorning goodnight blahblah whatsup awesome amazing excellent perfect fantastic wonderful
incredible number numbers one two three four five six seven eight nine ten hundred thousand million zero first second
third last only single double triple iamthe iam myself mine yours ours mypassword mypass thisis thepassword newpassword
oldpassword yourpassword nopassword password1 myspace space bar enter return escape delete control shift backspace
insert home work house door window table chair kitchen bathroom bedroom street road highway airplane airport train
station bicycle motorcycle motorbike car cars truck driver racing racer turbo nitro speed speedy fast furious quick
slow stop start begin end finish final winner loser noob newbie beginner expert genius professor science history
biology chemistry physics mathematics geography literature philosophy psychology
`

const ROWS = [
  'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz',
  '0123456789012345678901234567890123456789',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1q2w3e4r5t6y7u8i9o0p',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  'qazwsxedcrfvtgbyhnujmikolp',
  '!@#$%^&*()_+',
  '!"£$%^&*()_+',
]

const reverseText = (text: string): string => [...text].reverse().join('')

/** Shortest piece of a row that counts, e.g. `1234` or `qwer`. */
const SHORTEST_RUN = 4

const words = new Set(WORDS.split(/\s+/).filter(Boolean))
const runs = [...ROWS, ...ROWS.map(reverseText)]

const LOOKALIKES: Readonly<Record<string, string>> = {
  '@': 'a',
  4: 'a',
  3: 'e',
  1: 'i',
  '!': 'i',
  0: 'o',
  $: 's',
  5: 's',
  7: 't',
}

const isRun = (text: string): boolean => text.length >= SHORTEST_RUN && runs.some(row => row.includes(text))

const isPiece = (text: string): boolean => words.has(text) || isRun(text)

function isMadeOfPieces(text: string, most: number): boolean {
  if (isPiece(text)) return true
  if (most === 1) return false
  for (let at = 1; at < text.length; at += 1)
    if (isPiece(text.slice(0, at)) && isMadeOfPieces(text.slice(at), most - 1)) return true
  return false
}

/** Returns the repeated unit of a text: `abc` for `abcabc`. A text without repetition is its own unit. */
function unitOf(text: string): string {
  for (let size = 1; size <= text.length / 2; size += 1)
    if (text.length % size === 0 && text.slice(0, size).repeat(text.length / size) === text)
      return text.slice(0, size)
  return text
}

/** A repeated unit this short is weak regardless of what it contains. */
const LONGEST_WORTHLESS_UNIT = 4

/** Dates, telephone numbers, sequences. */
const NUMBER = /^[\d.,/:+-]*$/

/**
 * Whether attackers try the password first: at most two common words or keyboard sequences, in any case, once or repeated, with
 * digits and symbols around them, between them or in place of letters.
 */
export function isCommonPassword(password: string): boolean {
  const lower = password.normalize('NFKC').toLowerCase().replace(/\s+/g, '')
  const unit = unitOf(lower)
  if (unit.length <= LONGEST_WORTHLESS_UNIT || isRun(lower) || NUMBER.test(lower)) return true
  const spelt = [...unit].map(character => LOOKALIKES[character] ?? character).join('')
  const trimmed = unit.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
  const speltTrimmed = [...trimmed].map(character => LOOKALIKES[character] ?? character).join('')
  const letters = trimmed.replace(/[^\p{L}]/gu, '')
  return [unit, spelt, trimmed, speltTrimmed, letters].some(text => isMadeOfPieces(text, 2))
}
