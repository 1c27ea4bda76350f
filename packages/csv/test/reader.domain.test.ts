import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CsvFault, CsvReader, type CsvRow, NotUtf8, Utf8Text } from '../reader.ts'

function rowsOf(...pieces: string[]): CsvRow[] {
  const rows: CsvRow[] = []
  const reader = new CsvReader(row => rows.push(row))
  for (const piece of pieces) reader.push(piece)
  reader.end()
  return rows
}

const cellsOf = (...pieces: string[]): string[][] => rowsOf(...pieces).map(row => row.cells)

/** Returns the line of the `CsvFault` that reading the text throws. */
function faultLine(text: string): number {
  try {
    rowsOf(text)
  } catch (error) {
    if (error instanceof CsvFault) return error.line
    throw error
  }
  throw new Error('The text was read.')
}

describe('CsvReader', () => {
  it('returns rows of trimmed cells for any line end, and skips empty rows', () => {
    expect(cellsOf('a, b \r\nc,\td\r\n\n , \re,f')).toEqual([
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
    ])
  })

  it('accepts commas, line ends and doubled quotes in quoted cells', () => {
    expect(cellsOf('"a,b","c\r\nd","say ""hi"""')).toEqual([['a,b', 'c\r\nd', 'say "hi"']])
  })

  it('returns the first line of each row, and what is wrong with its quotes', () => {
    const rows = rowsOf('a,"b\nc"\nd,"e" f\n')
    expect(rows.map(row => row.line)).toEqual([1, 3])
    expect(rows[1]).toMatchObject({ fault: expect.stringContaining('after a closing quote') })
  })

  it('throws with the line of an unclosed quote, of too many cells, or of a cell that is too long', () => {
    expect(faultLine('a\nb,"c\nd')).toBe(2)
    expect(faultLine(`a\n${','.repeat(200)}`)).toBe(2)
    expect(faultLine(`a\nb\n${'x'.repeat(8_193)}`)).toBe(3)
  })

  it('returns the same rows no matter how the text is cut into pieces', () => {
    const text = fc.array(fc.constantFrom('a', ',', '"', '\r', '\n', ' ', '""'), { maxLength: 40 })
    fc.assert(
      fc.property(text, fc.nat(40), (parts, cut) => {
        const whole = parts.join('')
        const outcome = (...pieces: string[]): unknown => {
          try {
            return rowsOf(...pieces)
          } catch (error) {
            return (error as CsvFault).line
          }
        }
        expect(outcome(whole.slice(0, cut), whole.slice(cut))).toEqual(outcome(whole))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('Utf8Text', () => {
  it('decodes pieces that end within characters, and removes the byte-order mark', () => {
    const bytes = new TextEncoder().encode('\ufeffäöü€')
    const text = new Utf8Text()
    expect([...bytes].map(byte => text.read(Uint8Array.of(byte))).join('') + text.end()).toBe('äöü€')
  })

  it('throws NotUtf8 with the line of the invalid byte', () => {
    const bytes = Uint8Array.of(0x61, 0x0a, 0xff, 0x0a)
    expect(() => new Utf8Text().read(bytes)).toThrow(NotUtf8)
    try {
      new Utf8Text().read(bytes)
    } catch (error) {
      expect((error as NotUtf8).line).toBe(1)
    }
  })
})
