import { expect, test } from 'vitest'
import { compileWith } from '../../minimal-archive.ts'

const found = (template: string): string[] =>
  compileWith({ 'policy/invoice.template.vm': template }).findings.map(
    ({ line, column, message }) => `${line}:${column} ${message.split(/[.,;]/)[0]}`,
  )

test.each([
  'plain text with # and $ and 100% of #colour',
  '#if($a == "(")x#elseif ($b)y#else z#end',
  '#{if}($a)x#{else}y#{end}',
  '#foreach($x in $data.list)\n$x.name.substring(0, 3) #set($y = $x)\n#end',
  '## #if is not closed here\n#* nor #if here *# #[[ nor #foreach here ]]#',
  '\\#if escaped',
  '#macro(row $cell)<td>$cell</td>#end #row("x")',
])('the template %j is accepted', template => {
  expect(found(template)).toEqual([])
})

test.each([
  ['a\n#if($x)\nb', "2:1 The '#if' that begins here is never closed"],
  ['#foreach($x in $y) #if($x) #end', "1:1 The '#foreach' that begins here is never closed"],
  ['x\n\n#end', "3:1 This '#end' belongs to no block"],
  ['#else x', "1:1 This '#else' belongs to no block"],
  ['#if x #end', "1:1 '#if' needs its arguments in parentheses"],
  ['#set($a = ("x")', "1:16 ')' is missing after the arguments"],
  ['a\n#* b', "2:1 The '#*' that begins here is never closed by '*#'"],
  ['#evaluate("$x")', "1:1 '#evaluate' is not available: a template cannot create another template"],
])('the error in %j is reported at its line and column', (template, message) => {
  expect(found(template)[0]).toBe(message)
})

test('a thousand unclosed blocks are reported at the first one that nests deeper than 100', () => {
  expect(found('#if($a) '.repeat(1_000))[0]).toBe('1:797 It is nested deeper than 100')
})

test('a snippet that the document does not list, and a name that no snippet can have, are errors', () => {
  const { findings } = compileWith({
    'policy/policy.json': {
      documents: [
        { fileName: 'a.pdf', templateName: 'a', templateSnippets: ['head', '1st'] },
        { fileName: 'b.pdf', templateName: 'b' },
      ],
    },
    'policy/a.vm': '## #parse("old")\n #parse("head") #parse("foot")#* #parse("older") *#',
    'policy/b.liquid': "{% render 'any' %}",
  })
  expect(findings.map(({ severity, code, path, line }) => [severity, code, path, line])).toEqual([
    ['ERROR', 'missingSnippet', 'products/boat/policy/a.vm', 2],
    ['ERROR', 'badSnippetName', 'products/boat/policy/policy.json', expect.any(Number)],
  ])
})
