// A separate process: compiles and evaluates one Worker bundle, as an isolate does when it starts, and prints the CPU time in
// microseconds. Requests need the platform; the top level of a module does not.
import { readFileSync } from 'node:fs'
import { compile, link } from './worker-bundle.ts'

const bundle = process.argv[2]!
const source = readFileSync(bundle, 'utf8')

let spentUs = 0

function withCpuTime<Result>(work: () => Result): Result {
  const before = process.cpuUsage()
  const result = work()
  const { user, system } = process.cpuUsage(before)
  spentUs += user + system
  return result
}

const worker = withCpuTime(() => compile(source, bundle))
await link(worker, bundle)
await withCpuTime(() => worker.evaluate())
process.stdout.write(String(spentUs))
process.exit(0)
