// How much of the service's memory is in use, as its inspector tells: after a collection of what nobody holds.
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../scripts/free-port.ts'
import { startWorker, type Worker, type WorkerSource } from './worker-process.ts'

type Reply = { id: number; result?: { usedSize?: number }; error?: { message: string } }

const LONGEST_ANSWER_MS = 8_000

/** A Worker whose memory can be looked at. */
export type Watched = {
  readonly service: Worker
  /**
   * Megabytes in use in its isolate; undefined when the inspector does not answer, as those of a busy machine sometimes do not. Each
   * look has a connection of its own. An isolate that has nothing to do does not answer at once, and so is asked for its health meanwhile.
   */
  usedMegabytes(): Promise<number | undefined>
}

export async function startWatched(source: Omit<WorkerSource, 'inspectorPort'>): Promise<Watched> {
  const inspectorPort = await freePort()
  const service = await startWorker({ ...source, inspectorPort })
  return { service, usedMegabytes: () => usedMegabytes(inspectorPort, service.origin) }
}

async function usedMegabytes(port: number, origin: string): Promise<number | undefined> {
  let isOver = false
  const answer = Promise.race([
    look(port).catch(() => undefined),
    sleep(LONGEST_ANSWER_MS, undefined),
  ]).finally(() => {
    isOver = true
  })
  while (!isOver) {
    await fetch(`${origin}/health`)
    await Promise.race([answer, sleep(100)])
  }
  return await answer
}

async function look(port: number): Promise<number> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as {
    webSocketDebuggerUrl: string
  }[]
  // The inspector answers debuggers of this machine only, and knows them by their origin.
  const options = { headers: { Origin: 'http://localhost' } }
  // Node takes more than the standard's list of protocols.
  const socket = new WebSocket(targets[0]!.webSocketDebuggerUrl, options as unknown as string[])
  const replies = new Map<number, (reply: Reply) => void>()
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply
    replies.get(reply.id)?.(reply)
  })
  const ask = async (id: number, method: string): Promise<Reply> => {
    const reply = await new Promise<Reply>(resolve => {
      replies.set(id, resolve)
      socket.send(JSON.stringify({ id, method }))
    })
    if (reply.error) throw new Error(`${method}: ${reply.error.message}`)
    return reply
  }
  // Anyone who waits no longer has the connection closed, so that the next one is let in.
  const closed = setTimeout(() => socket.close(), LONGEST_ANSWER_MS)
  try {
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', () => reject(new Error('The inspector cannot be reached.')))
    })
    await ask(1, 'HeapProfiler.collectGarbage')
    const { result } = await ask(2, 'Runtime.getHeapUsage')
    return result!.usedSize! / 1_000_000
  } finally {
    clearTimeout(closed)
    socket.close()
  }
}
