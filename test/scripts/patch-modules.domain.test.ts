import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

// Types of a script that an install runs with the system's Node.
const { PATCHES } = (await import('../../scripts/patch-modules.mjs' as string)) as {
  PATCHES: { file: string; text: string; instead: string }[]
}

it.each(PATCHES)('$file as it is installed is mended', ({ file, text, instead }) => {
  const installed = readFileSync(`node_modules/${file}`, 'utf8')
  expect(installed.split(instead)).toHaveLength(2)
  expect(installed).not.toContain(text)
})
