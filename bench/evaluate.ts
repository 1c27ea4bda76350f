// A process of its own: compiles and evaluates one Worker bundle, as an isolate does when it starts, and prints
// the CPU microseconds that took. Requests need the platform; the top level of a module does not.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Module, SourceTextModule, SyntheticModule } from 'node:vm'

const PLATFORM = {
  DurableObject: class {},
  WorkerEntrypoint: class {},
  RpcTarget: class {},
  env: {},
}

const bundle = process.argv[2]!
const source = readFileSync(bundle, 'utf8')
let spentUs = 0

function measured<Result>(work: () => Result): Result {
  const before = process.cpuUsage()
  const result = work()
  const { user, system } = process.cpuUsage(before)
  spentUs += user + system
  return result
}

const synthetic = (values: Record<string, unknown>): SyntheticModule =>
  new SyntheticModule(Object.keys(values), function () {
    for (const [name, value] of Object.entries(values)) this.setExport(name, value)
  })

/** The platform has its own modules at hand; files beside the bundle are text to the bundler. */
async function moduleNamed(specifier: string): Promise<Module> {
  if (specifier.startsWith('cloudflare:')) return synthetic(PLATFORM)
  if (specifier.startsWith('.'))
    return synthetic({ default: readFileSync(join(dirname(bundle), specifier), 'utf8') })
  return synthetic(await import(specifier))
}

const worker = measured(() => new SourceTextModule(source))
await worker.link(moduleNamed)
await measured(() => worker.evaluate())
process.stdout.write(String(spentUs))
process.exit(0)
