// Transfers the bytes of a file in small steps, because a large one would keep other requests from the thread.
import { hexOf } from '../../kernel/text.ts'

/** Bytes of a file that are read or sent at a time, and between two rests. Larger transfers keep other requests from the thread. */
const BYTES_AT_ONCE = 64 * 1024
const BYTES_BETWEEN_RESTS = 128 * 1024

/** Passes `send` a body of `size` bytes that arrives in small steps, with rests. Returns its SHA-256 in hexadecimal. */
export async function sendSlowly(
  source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  size: number,
  rest: () => Promise<void>,
  send: (body: ReadableStream) => Promise<unknown>,
): Promise<string> {
  const { readable, writable } = new FixedLengthStream(size)
  const writer = writable.getWriter()
  const digest = new crypto.DigestStream('SHA-256')
  const digesting = digest.getWriter()
  const write = async (): Promise<void> => {
    await eachSlowly(source, rest, async bytes => {
      await digesting.write(bytes)
      await writer.write(bytes)
    })
    await digesting.close()
    await writer.close()
  }
  await Promise.all([send(readable), write()])
  return hexOf(await digest.digest)
}

async function eachSlowly(
  source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  rest: () => Promise<void>,
  use: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  let waiting = 0
  for await (const bytes of source)
    for (let at = 0; at < bytes.length; at += BYTES_AT_ONCE) {
      const some = bytes.subarray(at, at + BYTES_AT_ONCE)
      await use(some)
      waiting += some.length
      if (waiting < BYTES_BETWEEN_RESTS) continue
      waiting = 0
      await rest()
    }
}
