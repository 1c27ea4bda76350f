// A zip with one file, written as its bytes come.
import { crc32 } from '../../../packages/zip/crc32.ts'
import { type CsvSource, csvBytes, Held, packedRanges, type RangedFile } from './csv-source.ts'

const DEFLATE = 8
/** The name is UTF-8. */
const UTF8_NAME = 0x0800
/** Sizes and checksum stand behind the data. */
const DESCRIPTOR = 0x0008
const VERSION = 20
/** 1980-01-01: the same contents give the same zip. */
const DAY = 0x0021

type Sums = { crc: number; packed: number; size: number }

/** A zip of the CSV under this name: as it is packed in the file, or deflated on the way. */
export function zipOf(file: RangedFile, source: CsvSource, name: string): ReadableStream<Uint8Array> {
  const isPacked = source.sizeBytes !== undefined
  const sums: Sums = {
    crc: source.crc32 ?? 0,
    packed: isPacked ? source.packedBytes : 0,
    size: source.sizeBytes ?? 0,
  }
  const data = isPacked ? packedRanges(file, source) : deflated(csvBytes(file, source, new Held()), sums)
  return streamOf(zip(new TextEncoder().encode(name), isPacked ? source.method : DEFLATE, data, sums))
}

function streamOf(bytes: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await bytes.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: () => void bytes.return(undefined),
  })
}

async function* deflated(bytes: AsyncGenerator<Uint8Array>, sums: Sums): AsyncGenerator<Uint8Array> {
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes) {
      sums.crc = crc32(piece, sums.crc)
      sums.size += piece.length
      yield piece
    }
  }
  const packed = streamOf(counted()).pipeThrough(
    new CompressionStream('deflate-raw') as unknown as ReadableWritablePair<Uint8Array, Uint8Array>,
  )
  const reader = packed.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    sums.packed += value.length
    yield value
  }
}

async function* zip(
  name: Uint8Array,
  method: number,
  data: AsyncGenerator<Uint8Array>,
  sums: Sums,
): AsyncGenerator<Uint8Array> {
  const fields = (): number[][] => [
    u16(VERSION),
    u16(UTF8_NAME | DESCRIPTOR),
    u16(method),
    u16(0),
    u16(DAY),
    u32(sums.crc),
    u32(sums.packed),
    u32(sums.size),
    u16(name.length),
    u16(0),
  ]
  // What is deflated on the way is counted behind its data: here the sums are zero still.
  const local = bytesOf(u32(0x04034b50), ...fields())
  yield local
  yield name
  yield* data
  yield bytesOf(u32(0x08074b50), u32(sums.crc), u32(sums.packed), u32(sums.size))
  const directoryAt = local.length + name.length + sums.packed + 16
  const entry = bytesOf(u32(0x02014b50), u16(VERSION), ...fields(), u16(0), u16(0), u16(0), u32(0), u32(0))
  yield entry
  yield name
  yield bytesOf(
    u32(0x06054b50),
    u16(0),
    u16(0),
    u16(1),
    u16(1),
    u32(entry.length + name.length),
    u32(directoryAt),
    u16(0),
  )
}

const u16 = (value: number): number[] => [value & 0xff, (value >>> 8) & 0xff]
const u32 = (value: number): number[] => [...u16(value & 0xffff), ...u16(value >>> 16)]
const bytesOf = (...fields: number[][]): Uint8Array => Uint8Array.from(fields.flat())
