// Runs an action between two batches of a request, as another isolate or client might.
import { env } from 'cloudflare:workers'

type Sessions = { batch(statements: unknown): Promise<unknown> }

let waiting: { left: number; readonly act: () => Promise<unknown> } | undefined

let isWrapped = false

/** Tests and service share one isolate, so all databases have the same prototype. */
function wrapDatabases(): void {
  if (isWrapped) return
  isWrapped = true
  const sessions = Object.getPrototypeOf(env.CONTROL.withSession()) as Sessions
  const own = sessions.batch
  sessions.batch = async function (this: unknown, statements) {
    if (waiting && waiting.left-- === 0) {
      const { act } = waiting
      waiting = undefined
      await act()
    }
    return await own.call(this as Sessions, statements)
  }
}

/**
 * Sends `request`, and runs `act` after its first `batches` batches, before the next one. Returns undefined if there is no next
 * batch: `act` has then not run, and the request ran alone.
 */
export async function afterBatches<Sent, Acted>(
  batches: number,
  request: () => Promise<Sent>,
  act: () => Promise<Acted>,
): Promise<{ sent: Sent; acted: Acted } | undefined> {
  wrapDatabases()
  let acted: Acted | undefined
  let isActed = false
  const doAct = async () => {
    acted = await act()
    isActed = true
  }
  waiting = { left: batches, act: doAct }
  try {
    const sent = await request()
    return isActed ? { sent, acted: acted as Acted } : undefined
  } finally {
    waiting = undefined
  }
}
