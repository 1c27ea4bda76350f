// Messages over a pipe: the number of parts, the length of each in bytes, then the parts.
import type { Writable } from 'node:stream'

const NUMBER_BYTES = 4

export function writeFrame(pipe: Writable, parts: readonly Uint8Array[]): void {
  const head = Buffer.alloc(NUMBER_BYTES * (parts.length + 1))
  head.writeUInt32LE(parts.length, 0)
  for (const [at, part] of parts.entries()) head.writeUInt32LE(part.length, NUMBER_BYTES * (at + 1))
  pipe.cork()
  pipe.write(head)
  for (const part of parts) pipe.write(part)
  pipe.uncork()
}

/** Takes what comes over a pipe, chunk by chunk, and hands on every whole message. */
export function frameReader(take: (parts: Buffer[]) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = []
  let length = 0
  /** Bytes that have to be there before it is worth looking. */
  let needed = NUMBER_BYTES
  return chunk => {
    chunks.push(chunk)
    length += chunk.length
    while (length >= needed) {
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      chunks = [bytes]
      const count = bytes.readUInt32LE(0)
      const head = NUMBER_BYTES * (count + 1)
      if (length < head) {
        needed = head
        return
      }
      const lengths = Array.from({ length: count }, (_, at) => bytes.readUInt32LE(NUMBER_BYTES * (at + 1)))
      const whole = lengths.reduce((sum, one) => sum + one, head)
      if (length < whole) {
        needed = whole
        return
      }
      let from = head
      const parts = lengths.map(one => {
        const part = bytes.subarray(from, from + one)
        from += one
        return part
      })
      const rest = bytes.subarray(whole)
      chunks = rest.length > 0 ? [rest] : []
      length = rest.length
      needed = NUMBER_BYTES
      take(parts)
    }
  }
}
