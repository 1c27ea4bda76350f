// Bindings of files and queues that work as usual and report their calls.
import type { FileCall } from '../plan.ts'

/** The bucket. Each call is noted with the bytes that were written or read. */
export function watchedFiles(bucket: R2Bucket, note: (call: FileCall) => void): R2Bucket {
  return replacing(bucket, {
    put: async (...given: Parameters<R2Bucket['put']>) => {
      const put = await bucket.put(...given)
      note({ kind: 'put', bytes: put?.size ?? 0 })
      return put
    },
    get: async (...given: Parameters<R2Bucket['get']>) => {
      const got = await bucket.get(...given)
      note({ kind: 'get', bytes: got?.size ?? 0 })
      return got
    },
    ...Object.fromEntries(
      (['head', 'list', 'delete', 'createMultipartUpload'] as const).map(name => [
        name,
        (...given: unknown[]) => {
          note({ kind: 'other', bytes: 0 })
          return (bucket[name] as (...all: unknown[]) => unknown)(...given)
        },
      ]),
    ),
  })
}

/** The queue. Each message is noted with its bytes. */
export function watchedQueue<Message>(queue: Queue<Message>, note: (bytes: number) => void): Queue<Message> {
  return replacing(queue, {
    send: (...given: Parameters<Queue<Message>['send']>) => {
      note(JSON.stringify(given[0]).length)
      return queue.send(...given)
    },
  })
}

/** The binding, with other functions under these names. */
const replacing = <T extends object>(binding: T, others: Record<string, unknown>): T =>
  new Proxy(binding, {
    get(target, name) {
      const value: unknown = others[String(name)] ?? Reflect.get(target, name)
      return typeof value === 'function' && !(String(name) in others) ? value.bind(target) : value
    },
  })
