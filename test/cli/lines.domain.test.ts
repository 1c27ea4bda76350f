// Files of JSON lines are split at line feeds alone: JSON text may contain other characters that some programs take for the end
// of a line.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { type Line, linesOf } from '../../cli/lines.ts'

const folder = mkdtempSync(join(tmpdir(), 'lines-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function read(content: Buffer): Promise<Line[]> {
  const path = join(folder, 'lines.ndjson')
  writeFileSync(path, content)
  const lines: Line[] = []
  for await (const line of linesOf(path)) lines.push(line)
  return lines
}

const Piece = fc.oneof(
  fc.constantFrom('\u2028', '\u2029', '\r', '\u0085', '\v', '\f', 'ü', '😀', '"', '{}'),
  // Longer than one read of the file.
  fc.constant('x'.repeat(70_000)),
  fc.string({ unit: 'grapheme' }).map(text => text.replaceAll('\n', '')),
)
const Text = fc.array(Piece, { maxLength: 6 }).map(pieces => pieces.join(''))

it('linesOf returns every line with its position, even if the file is read in pieces', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(Text, { maxLength: 8 }), fc.boolean(), async (texts, isCutOff) => {
      const content = Buffer.from(texts.map(text => `${text}\n`).join('')).subarray(
        0,
        isCutOff ? -1 : undefined,
      )
      const lines = await read(content)
      // Empty text without a line feed at its end is not a line.
      const wanted = isCutOff && texts.at(-1) === '' ? texts.slice(0, -1) : texts
      expect(lines.map(({ text }) => text)).toEqual(wanted)
      for (const [at, { text, start, length, isEnded }] of lines.entries()) {
        expect(content.subarray(start, start + length).toString()).toBe(text)
        expect(isEnded).toBe(!isCutOff || at < texts.length - 1)
      }
    }),
    { numRuns: 60 },
  )
})
