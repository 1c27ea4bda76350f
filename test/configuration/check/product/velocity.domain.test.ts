import { expect, test } from 'vitest'
import { compileWith } from '../../minimal-archive.ts'

const found = (template: string): string[] =>
  compileWith({ 'policy/invoice.template.vm': template })
    .findings.filter(({ code }) => code !== 'velocityNotRendered')
    .map(({ code, line, message }) => `${code}:${line} ${message.split(/[.,]/)[0]}`)

test.each([
  'plain text with # and $ and 100% of #colour',
  '#if($a == "(")x#elseif ($b)y#else z#end',
  '#{if}($a)x#{else}y#{end}',
  '#foreach($x in $data.list)\n$x.name.substring(0, 3) #set($y = $x)\n#end',
  '## #if is not closed here\n#* nor #if here *# #[[ nor #foreach here ]]#',
  '\\#if escaped',
  '#macro(row $cell)<td>$cell</td>#end #row("x")',
])('nothing is wrong with %j', template => {
  expect(found(template)).toEqual([])
})

test.each([
  ['a\n#if($x)\nb', "badVelocity:2 The '#if' that begins here is never closed"],
  ['#foreach($x in $y) #if($x) #end', "badVelocity:1 The '#foreach' that begins here is never closed"],
  ['x\n\n#end', "badVelocity:3 This '#end' closes nothing"],
  ['#else x', "badVelocity:1 This '#else' stands in no '#if'"],
  ['#if x #end', "badVelocity:1 '#if' needs its arguments between '(' and ')'"],
  ['#set($a = ("x")', "badVelocity:1 '#set' needs its arguments between '(' and ')'"],
  ['a\n#* b', "badVelocity:2 The '#*' that begins here is never closed by '*#'"],
])('%j is found at its line', (template, message) => {
  expect(found(template)).toEqual([message])
})

test('a thousand blocks left open are found at once', () => {
  expect(found('#if($a) '.repeat(1_000))).toHaveLength(1_000)
})
