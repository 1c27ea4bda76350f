// Measures how much of the service's memory is in use after a garbage collection, through its inspector.
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../scripts/free-port.ts'
import { startWorker, type Worker, type WorkerSource } from './worker-process.ts'

type Reply = { id: number; result?: { usedSize?: number }; error?: { message: string } }

const LONGEST_ANSWER_MS = 8_000

/** A Worker whose memory can be measured. */
export type Watched = {
  readonly service: Worker
  /**
   * Returns the megabytes in use in its isolate. Undefined if the inspector does not respond, which happens on a busy machine.
   * Each measurement has its own connection. An idle isolate does not respond promptly, so health checks keep it busy meanwhile.
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
    readUsedHeap(port).catch(() => undefined),
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

async function readUsedHeap(port: number): Promise<number> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as {
    webSocketDebuggerUrl: string
  }[]
  // The inspector only accepts debuggers of this machine, which it recognizes by their origin.
  const options = { headers: { Origin: 'http://localhost' } }
  // Node accepts options here, in addition to the list of protocols that the standard defines.
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
  // Closes the connection when nobody waits for it any more, so that the next one is accepted.
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
