// How much of the service's memory is in use, as its inspector tells: after a collection of what nobody holds.

type Reply = { id: number; result?: { usedSize?: number }; error?: { message: string } }

export type Heap = { usedMegabytes(): Promise<number>; close(): void }

/** The heap of the isolate behind the inspector on that port. */
export async function inspectHeap(port: number): Promise<Heap> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as {
    webSocketDebuggerUrl: string
  }[]
  // The inspector answers debuggers of this machine only, and knows them by their origin.
  const options = { headers: { Origin: 'http://localhost' } }
  // Node takes more than the standard's list of protocols.
  const socket = new WebSocket(targets[0]!.webSocketDebuggerUrl, options as unknown as string[])
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', () => reject(new Error('The inspector cannot be reached.')))
  })
  const waiting = new Map<number, (reply: Reply) => void>()
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply
    waiting.get(reply.id)?.(reply)
    waiting.delete(reply.id)
  })
  let asked = 0
  const ask = async (method: string): Promise<Reply> => {
    asked += 1
    const id = asked
    const reply = await new Promise<Reply>(resolve => {
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ id, method }))
    })
    if (reply.error) throw new Error(`${method}: ${reply.error.message}`)
    return reply
  }
  return {
    async usedMegabytes() {
      await ask('HeapProfiler.collectGarbage')
      const { result } = await ask('Runtime.getHeapUsage')
      return result!.usedSize! / 1_000_000
    },
    close: () => socket.close(),
  }
}
