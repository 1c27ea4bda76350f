// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are references of Velocity.
// Velocity as templates use it: what is printed, what is rejected, and that nothing escapes (resources brief 12.2). The library
// of the dialect gives a second opinion on harmless templates.
import { render as renderedByLibrary } from 'velocityjs'
import { describe, expect, it } from 'vitest'
import { type RenderLimits, TemplateError } from '../../liquid/limits.ts'
import { CALENDAR, digitsOfCurrency, isCurrency } from '../../liquid/test/calendar.ts'
import { NUMBER_MEMBERS } from '../data.ts'
import { compileVelocity, renderVelocity } from '../velocity.ts'
import { AGREED, CORPUS_DATA, DIFFERENT } from './corpus.ts'

const DATA = {
  name: 'Ada',
  count: 3,
  rate: 0.1,
  premium: '1234.50',
  none: null,
  empty: '',
  at: 1_767_225_600_000,
  items: [
    { label: 'a', price: 2 },
    { label: 'b', price: 3 },
  ],
  limits: { low: 10, high: 20 },
}

const compiled = (source: string, path = 'letter') => {
  const { template, findings } = compileVelocity({ path, source })
  if (!template) throw new Error(findings.map(one => `${one.line}:${one.column} ${one.message}`).join('\n'))
  return template
}

type Options = { snippets?: Record<string, string>; limits?: Partial<RenderLimits>; data?: unknown }

const rendering = (source: string, { snippets = {}, limits = {}, data = DATA }: Options = {}) =>
  renderVelocity(compiled(source), data, {
    timeZone: 'Europe/Berlin',
    currency: 'EUR',
    now: 0,
    calendar: CALENDAR,
    isCurrency,
    digitsOfCurrency,
    limits,
    snippets: name => (Object.hasOwn(snippets, name) ? compiled(snippets[name]!, name) : undefined),
  })
const render = (source: string, options?: Options): string => rendering(source, options).output

const failure = (
  source: string,
  options?: Options,
): Pick<TemplateError, 'code' | 'message' | 'line' | 'column' | 'path'> => {
  try {
    rendering(source, options)
  } catch (problem) {
    if (problem instanceof TemplateError) {
      const { code, message, line, column, path } = problem
      return { code, message, line, column, path }
    }
    throw problem
  }
  throw new Error('It was rendered.')
}

describe('A Velocity template', () => {
  it.each([
    ['Hi $data.name, ${data.name}s $!data.name!', 'Hi Ada, Adas Ada!'],
    [
      '$data.nothing $!data.nothing|${data.nothing.deep}|$data.none',
      '$data.nothing |${data.nothing.deep}|$data.none',
    ],
    ['#set($x = $data.count * 2 + 1)$x', '7'],
    ['#set($x = 7 / 2)$x #set($y = 7.0 / 2)$y #set($z = 7 % 4)$z', '3 3.5 3'],
    ['#set($x = $data.rate + 0.2)$x', '0.3'],
    ['#set($x = $data.premium - 0.5)$x #set($y = -$data.count)$y', '1234 -3'],
    ['#set($x = "$data.name has $data.count")$x', 'Ada has 3'],
    ["#set($x = '$data.name')$x", '$data.name'],
    ['#if($data.count > 2 && !$data.none)yes#{else}no#end', 'yes'],
    ['#if($data.count lt 3)a#elseif($data.name eq "Ada")b#{else}c#end', 'b'],
    ['#if($data.empty)full#{else}empty#end', 'empty'],
    ['#foreach($i in $data.items)$foreach.count:$i.label#if($foreach.hasNext), #end#end', '1:a, 2:b'],
    ['#foreach($i in [1..5])#if($i == 4)#break#end$i#end.', '123.'],
    ['#foreach($i in [3..1])$i#end #foreach($i in [])x#{else}none#end', '321 none'],
    ['#foreach($e in $data.limits.entrySet())$e.key=$e.value;#end', 'low=10;high=20;'],
    ['#foreach($k in $data.limits.keySet())$k $data.limits.get($k);#end', 'low 10;high 20;'],
    ['#macro(line $a $b)[$a|$b]#end#line("x" 2)#line($data.name, 3)', '[x|2][Ada|3]'],
    ['#macro(box)<b>$!bodyContent</b>#end#@box()in#end', '<b>in</b>'],
    ['#define($sign)yours, $data.name#end$sign', 'yours, Ada'],
    [
      '#set($m = {"a": [1, 2], "b": {}})#set($m.c = 5)$m.a[1] $m["c"] $m.a.size() $m',
      '2 5 2 {a=[1, 2], b={}, c=5}',
    ],
    ['$data.name.substring(0, 2).toUpperCase()', 'AD'],
    ['$data.items.get(0).label $data.items[1].label $data.items.size() $data.items.isEmpty()', 'a b 2 false'],
    ['#set($s = " a,b ")$s.trim().split(",") $s.contains("b") $s.indexOf("z")', '[a, b] true -1'],
    ['a ## nothing\nb #* no\nthing *#c #[[$raw #if]]# \\$data.name', 'a b c $raw #if $data.name'],
    ['#a1b2c3 { color: #fff } $5.00 # 3 #header {', '#a1b2c3 { color: #fff } $5.00 # 3 #header {'],
    ['one#stop two', 'one'],
    ["$date.format('d MMM YYYY', $data.at) $number.format('#,##0.00', $data.premium)", '1 Jan 2026 1,234.50'],
    [
      "$number.percent($data.rate) $number.integer($data.premium) $number.number('1234.5678') $!number.percent($data.none)",
      '10% 1,235 1,234.568 ',
    ],
    [
      "$number.format('percent', $data.rate) $number.format('integer', 12.5) $number.format('number', $data.premium)",
      '10% 13 1,234.5',
    ],
    ["$number.currency($data.premium) #set($h = '<a & b>')$esc.html($h)", '€1,234.50 &lt;a &amp; b&gt;'],
    ['#if($data.count)\n  text\n#end\nafter', '  text\nafter'],
  ])('%j prints %j', (source, output) => expect(render(source)).toBe(output))

  it.each(AGREED)('%j prints what the library prints', source => {
    expect(render(source, { data: CORPUS_DATA })).toBe(
      renderedByLibrary(source, { data: structuredClone(CORPUS_DATA) }),
    )
  })

  describe.each(Object.entries(DIFFERENT))('%s', (_, rows) => {
    it.each(rows)('%j prints %j, which the library does not', (source, output) => {
      expect(render(source, { data: CORPUS_DATA })).toBe(output)
      let byLibrary: string | undefined
      try {
        byLibrary = renderedByLibrary(source, { data: structuredClone(CORPUS_DATA) })
      } catch {}
      expect(byLibrary).not.toBe(output)
    })
  })

  it.each([
    [
      '$foreach.index#foreach($i in [1..2])$velocityCount$velocityHasNext;#end',
      '$foreach.index1true;2false;',
    ],
    ['#foreach($i in [1..3])#if($i == 2)#break($foreach)#end$i#end', '1'],
    ['#set($x = "${data.name} says ""no""")$x', 'Ada says "no"'],
    ['${data.empty|"none"} ${data.count|"none"} $!{data.nothing|$data.name}', 'none 3 Ada'],
    ['#set($l = [1])#set($n = $l.addAll([2, 3]))$!l.remove(0)$l.set(0, 9)$l $l.indexOf(3)', '12[9, 3] 1'],
    [
      '#set($m = {"a": 1})$!m.put("b", 2)$m.put("b", 3)$m.remove("a")$m $m.getOrDefault("c", "d")',
      '21{b=3} d',
    ],
    ['#set($l = [1])#foreach($i in $l)#set($x = $l.add($i))#end$l.size()', '2'],
    ['#set($p = "a|b||")$p.split("\\|") $p.split("|").size()', '[a, b] 2'],
    ['#set($x = true)#if($x == "true" && "false" == !$x && $x != "false" && $x != "yes")a#end', 'a'],
    ['#if(true == 1 || false == "" || false == $data.none || "true" == ["true"])a#{else}b#end', 'b'],
    ['#macro(m $a, $b = "x" $c=[1, 2])[$a$b$c]#end#m(1)#m(1, 2)#m(1 2 3)', '[1x[1, 2]][12[1, 2]][123]'],
    [
      '$data.name-$data.count- $data.name--$data.name-x #set($x = $data.count- 1)$x-$x',
      'Ada-3- Ada--$data.name-x 2-2',
    ],
    ['#set($x = .5)$x #set($x = 2 * .25)$x #foreach($i in [1..3])$i#end', '0.5 0.5 123'],
    ['$data.getName() $data.getNothing()', 'Ada $data.getNothing()'],
    ['#foreach($i in $data.items)$i.label#if($foreach.hasNext()), #end#end', 'a, b'],
    ['#set($l = [])$l.empty $data.items.empty $data.name.empty $data.empty.empty', 'true false false true'],
  ])('%j prints %j', (source, output) => expect(render(source)).toBe(output))

  it('prints times by the names of formats, in the zone of the tenant', () => {
    const printed = (name: string): string => render(`$date.format('${name}', $data.at)`)
    expect(['full', 'long_date', 'medium', 'default_time', 'short', 'short_date'].map(printed)).toEqual([
      'Thursday, January 1, 2026 at 1:00:00 AM GMT+1',
      'January 1, 2026',
      'Jan 1, 2026, 1:00:00 AM',
      '1:00:00 AM',
      '1/1/26, 1:00 AM',
      '1/1/26',
    ])
    expect(render('$date.format("dd/MM/yyyy", $date.toDate("yyyy-MM-dd", "2026-01-31"))')).toBe('31/01/2026')
    expect(render('#set($day = $date.toDate($data.at))$date.format("d", $day) $!date.toDate("soon")')).toBe(
      '1 ',
    )
  })

  it('computes with numbers of the data that are given as text, and prints them unchanged', () => {
    const fields = { [NUMBER_MEMBERS]: new Set(['sum', 'claims', 'years']) }
    const data = { f: { ...fields, sum: '35000.50', claims: '0', years: ['3', '4.10'], code: '12' } }
    const given = (source: string) => render(source, { data })
    expect(given('$data.f.sum "$data.f.sum" $data.f.years $data.f')).toBe(
      '35000.50 "35000.50" [3, 4.10] {sum=35000.50, claims=0, years=[3, 4.10], code=12}',
    )
    expect(given('#set($t = 0)#set($t = $t + $data.f.sum)#set($t = $t + $data.f.get("sum"))$t')).toBe('70001')
    expect(given('#set($t = 0)#foreach($y in $data.f.years)#set($t = $t + $y)#end$t')).toBe('7.1')
    expect(given('#foreach($v in $data.f)#set($x = 1 + $v)$x #end')).toBe('35001.5 1 $x 112 ')
    expect(given('#foreach($e in $data.f.entrySet())#set($x = 1 + $e.value)$x #end')).toBe(
      '35001.5 1 $x 112 ',
    )
    expect(given('#if($data.f.claims)some#{else}none#end #if($data.f.sum == 35000.5)same#end')).toBe(
      'none same',
    )
    expect(given('$data.f.sum.length() $data.f.sum.substring(0, 2) $data.f.sum.intValue()')).toBe(
      '8 35 35000',
    )
    expect(given('#set($x = "EUR " + $data.f.sum)$x #set($x = 1 + $data.f.code)$x')).toBe('EUR 35000.50 112')
  })

  it('reports names that the data does not have, but not those whose value is null or empty', () => {
    const { undefinedNames } = rendering(
      '$data.x $!{data.y.z} #if($data.none || $data.empty)#end #foo("a") $data.name.getClass()',
    )
    expect(undefinedNames).toEqual(['$data.x', '$!{data.y.z}', '#foo', '$data.name.getClass()'])
  })

  it('includes snippets that read and set its variables with #parse, and unrendered ones with #include', () => {
    const snippets = { head: 'Dear $data.name#set($tone = "kind")', raw: '$data.name' }
    expect(render('#parse("head"), $tone #include("raw")', { snippets })).toBe('Dear Ada, kind $data.name')
  })

  it('is rejected with the line and column of every error', () => {
    const { template, findings } = compileVelocity({
      path: 'x',
      source: '#set($a = )\n#foreach($i $data.x)\n#end\n#end\n${data.x\n#evaluate("$x")\n#if($a == "b)\n',
    })
    expect(template).toBeUndefined()
    expect(findings.map(({ line, column }) => `${line}:${column}`)).toEqual([
      '1:11',
      '2:13',
      '4:1',
      '5:1',
      '6:1',
      '7:1',
      '7:11',
    ])
  })

  it('is warned that a number pattern in double quotes loses its end', () => {
    const source =
      '\n$number.format(\'#,##0.00\', 5) $number.format("#,##0.00", $data.premium) #if(true) ## why\n#end'
    const { template, findings } = compileVelocity({ path: 'x', source })
    expect(template).toBeDefined()
    expect(findings).toEqual([
      {
        severity: 'WARNING',
        path: 'x',
        line: 2,
        column: 49,
        code: 'commentInText',
        message: "In double quotes, '##' begins a comment. Use single quotes.",
      },
    ])
  })
})

const LARGE_MAP = '#set($m = {})#foreach($i in [1..1000])#set($m["k$i"] = 1)#end'
const LONG_TEXTS =
  '#set($s = "x")#set($t = "x")#foreach($i in [1..18])#set($s = $s + $s)#set($t = $t + $t)#end'

describe('A hostile Velocity template', () => {
  it.each([
    ['an endless loop', '#foreach($i in [1..2000])#foreach($j in [1..2000])x#end#end'],
    ['a range without an end', '#set($x = [1..999999999])'],
    ['texts that double', '#set($x = "aaaaaaaa")#foreach($i in [1..60])#set($x = "$x$x")#end'],
    ['texts that are joined', '#set($x = "aaaaaaaa")#foreach($i in [1..60])#set($x = $x + $x)#end'],
    ['replacements that grow', '#set($x = "aa")#foreach($i in [1..60])#set($x = $x.replace("a", $x))#end'],
    ['lists that double', '#set($l = ["aaaaaaaa"])#foreach($i in [1..60])#set($l = [$l, $l])#end$l'],
    ['a list within itself', '#set($m = {})#set($m.m = $m)$m'],
    ['numbers that grow', '#set($x = 9)#foreach($i in [1..60])#set($x = $x * $x)#end$x'],
    ['a macro that calls itself', '#macro(m)#m()#end#m()'],
    ['a block that prints itself', '#define($d)$d$d#end$d'],
    ['a macro in its own argument', '#macro(m $a)#m("$a$a$a$a")#end#m("aaaaaaaaaaaaaaaa")'],
    ['a list that grows', '#set($l = [1])#foreach($i in [1..40])#set($x = $l.addAll($l))#end'],
    ['a map that grows', '#set($m = {})#foreach($i in [1..2000])#set($x = $m.put("$i$m", 1))#end'],
    ['snippets of made-up names', '#foreach($i in [1..300])#parse("s$i")#end'],
    ['a large map as a condition, over and over', `${LARGE_MAP}#foreach($i in [1..4000])#if($m)#end#end`],
    [
      'the size of a large map, over and over',
      `${LARGE_MAP}#foreach($i in [1..4000])#set($x = $m.size())#end`,
    ],
    [
      'names of a large map, over and over',
      `${LARGE_MAP}#foreach($i in [1..4000])#set($x = $m.isEmpty())#end`,
    ],
    ['equal texts, over and over', `${LONG_TEXTS}#foreach($i in [1..2000])#if($s == $t)#end#end`],
    ['texts in order, over and over', `${LONG_TEXTS}#foreach($i in [1..2000])#if($s < $t)#end#end`],
    [
      'a text in a list of texts, over and over',
      `${LONG_TEXTS}#set($l = [$s])#foreach($i in [1..2000])#if($l.contains($t))#end#end`,
    ],
    ['a snippet of many macros, over and over', '#foreach($i in [1..2000])#parse("macros")#end'],
    ['a condition of many parts', `#foreach($i in [1..1900])#if(${'$i == 0 || '.repeat(500)}false)#end#end`],
  ])('is stopped with line and column for %s', (_, source) => {
    const snippets = {
      ...Object.fromEntries(Array.from({ length: 301 }, (_, at) => [`s${at}`, 'x'.repeat(50_000)])),
      macros: Array.from({ length: 1_000 }, (_, at) => `#macro(m${at})#end`).join(''),
    }
    const { code, line, column, path } = failure(`<p>\n  ${source}`, { snippets })
    expect({ code, line, path }).toEqual({ code: 'templateLimit', line: 2, path: 'letter' })
    expect(column).toBeGreaterThanOrEqual(3)
  })

  it('is stopped with the line where its output exceeds the limit', () => {
    const { code, line } = failure('a\n#foreach($i in [1..100])\n$data.name$data.name\n#end', {
      limits: { outputBytes: 100 },
    })
    expect({ code, line }).toEqual({ code: 'templateLimit', line: 3 })
  })

  it('fails if snippets include each other, nest deeper than 8 levels, or do not exist', () => {
    const circle = { a: '#parse("b")', b: '\n#parse("a")' }
    expect(failure('#parse("a")', { snippets: circle })).toMatchObject({
      code: 'templateFailed',
      path: 'b',
      line: 2,
      message: "The snippet 'a' includes itself: a → b → a.",
    })
    const chain = (length: number) =>
      Object.fromEntries(
        Array.from({ length }, (_, at) => [`s${at}`, at + 1 < length ? `#parse("s${at + 1}")` : 'end']),
      )
    expect(render('#parse("s0")', { snippets: chain(8) })).toBe('end')
    expect(failure('#parse("s0")', { snippets: chain(9) }).code).toBe('templateLimit')
    expect(failure('#parse("gone")').message).toBe("There is no snippet 'gone'. Correct its name or add it.")
  })

  it.each([
    '#set($m = {})#parse($m)',
    '#set($m = {"toString": 1})#include($m)',
    '#set($l = [{}])#parse($l)',
    '#parse($data.limits)',
    '#include($data.gone)',
    '#parse($data.none)',
  ])('fails if the name of a snippet is no text: %s', source => {
    expect(failure(source)).toMatchObject({
      code: 'templateFailed',
      path: 'letter',
      line: 1,
      message: 'The name of a snippet must be a text. Correct the expression.',
    })
  })

  it.each([
    '$data.constructor',
    '$data.__proto__',
    '$data.name.constructor',
    '$data["constructor"]',
    '$data.items.constructor("x")',
    '$data.name.constructor.constructor("return 1")',
    '$data.name.getClass().forName("java.lang.Runtime")',
    '$data.items.map("x")',
    '$data.items.push("x")',
    '$data.toString.call("x")',
    '$data.hasOwnProperty("name")',
    '$data.name.at(0)',
    '$date.constructor("x")',
    '$constructor',
    '$__proto__',
    '$data.items.length',
  ])('reaches no inherited members: %s prints as written', source => expect(render(source)).toBe(source))

  it('cannot change the data or a prototype', () => {
    const data = structuredClone(DATA)
    expect(failure('#set($data.name = "Eve")', { data }).code).toBe('templateFailed')
    expect(failure('#set($data.items[0] = 1)', { data }).code).toBe('templateFailed')
    for (const call of ['items.add(1)', 'items.clear()', 'limits.put("a", 1)', 'limits.remove("low")'])
      expect(failure(`$data.${call}`, { data }).message).toContain(
        'only maps and lists that the template created',
      )
    expect(
      render('#set($m = {})#set($m.__proto__ = {"x": 1})$m.x #set($n = {"__proto__": {"y": 1}})$n.y', {
        data,
      }),
    ).toBe('$m.x $n.y')
    expect(data).toEqual(DATA)
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  it('is compiled with at most 100 findings when it repeats any sign over half a megabyte', () => {
    for (const piece of [
      '$',
      '#',
      '$ ',
      '# ',
      '#if(',
      '$x.y ',
      '$x(',
      '${',
      '#*',
      '#[[',
      '"',
      '#set($x = "',
      '{"a":',
      '\\',
      '#set($x = {"a":',
      '$x.a(',
      '#end',
      '(((',
    ])
      expect(
        compileVelocity({ path: 'x', source: piece.repeat(500_000 / piece.length) }).findings.length,
      ).toBeLessThanOrEqual(100)
  })
})

describe('A template of more than 200,000 parts', () => {
  it.each([
    ['references', '$a ', 90_000],
    ['values of a list', `#set($a = [1${',1'.repeat(1_000)}])`, 150],
    ['steps', `$a${'.b'.repeat(100)} `, 1_500],
    ['operators', `#set($a = 1${'+1'.repeat(1_000)})`, 150],
  ])('is rejected while it is read: %s', (_, piece, count) => {
    expect(compileVelocity({ path: 'x', source: piece.repeat(count) }).findings).toEqual([])
    expect(compileVelocity({ path: 'x', source: piece.repeat(2 * count) }).findings).toMatchObject([
      { code: 'templateTooLarge', message: expect.stringContaining('more than 200000 parts') },
    ])
  })
})
