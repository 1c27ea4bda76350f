import type { BinderyClient, components } from '../../client/index.ts'
import { failureOf } from '../api.ts'
import { EXIT, type ExitCode, Failure, usage } from '../exit.ts'
import { countsOf, countsText, findingsText, readLog, shownFindings } from '../findings.ts'
import { assertFolder, folderState, packFolder } from '../folder.ts'
import { signedIn } from '../sign-ins.ts'
import { pause, type Run, say, show } from '../terminal.ts'

export type DeployOptions = { tenant: string; production?: boolean; watch?: boolean }

/** `bindery deploy DIR`: uploads the configuration, and ends when it is in force. */
export async function deploy(folder: string, options: DeployOptions, run: Run): Promise<ExitCode> {
  if (options.watch && options.production) throw usage('--watch is for test tenants only. Omit --production.')
  const { api } = signedIn('administration', run.terminal)
  return options.watch
    ? await deployAtEveryChange(folder, options, api, run)
    : await deployOnce(folder, options, api, run)
}

async function deployOnce(
  folder: string,
  { tenant, production }: DeployOptions,
  api: BinderyClient,
  run: Run,
): Promise<ExitCode> {
  const { zip, root, findings: unpacked } = packFolder(folder)
  const body = {
    tenantName: tenant,
    recreate: false,
    zipFile: new File([zip], 'configuration.zip', { type: 'application/zip' }),
  }
  const path = production ? '/configuration/deploy' : '/configuration/studio/deploy'
  const answer = unpacked.length > 0 ? undefined : await api.post(path, { body })
  const log = readLog(answer?.logfile ?? '')
  const findings = [...unpacked, ...log.findings]
  const shown = shownFindings(findings, root)
  const version = /^Deployed version (\d+) /m.exec(answer?.logfile ?? '')?.[1]
  const status = answer?.success ? await inForce(tenant, version, api, run) : undefined
  const { colors } = run.terminal
  const outcome = status
    ? `${colors.green(`Deployed version ${status.version} to ${answer!.hostname}`)} (${countsText(findings)})`
    : `${colors.red('Not deployed')}: ${countsText(findings)}`
  show(
    run,
    {
      ok: status !== undefined,
      ...countsOf(findings),
      findings: shown,
      tenantName: answer?.tenantName ?? tenant,
      hostname: answer?.hostname,
      version: status?.version,
    },
    () => `${shown.length === 0 ? '' : `${findingsText(shown, run.terminal)}\n`}${outcome}\n`,
  )
  return status ? EXIT.ok : EXIT.refused
}

const MOST_POLLS = 60

async function inForce(
  tenantName: string,
  version: string | undefined,
  api: BinderyClient,
  { terminal }: Run,
): Promise<components['schemas']['DeploymentStatusResponse']> {
  for (let polls = 0; polls < MOST_POLLS && !terminal.interrupted.aborted; polls += 1) {
    const query = { tenantName, ...(version !== undefined && { version: Number(version) }) }
    const status = await api.get('/deployments/status', { params: { query } })
    if (status.deploymentStatus === 'DEPLOYED') return status
    await pause(1_000, terminal)
  }
  throw new Failure(
    EXIT.unreachable,
    'The service accepted the configuration, but it is not in force yet. Check its status later.',
  )
}

/** Editors write a file in several steps. Changes within this time count as one. */
const QUIET_MS = 200

/**
 * The interval at which the folder is checked. The operating system's notifications miss a file that an editor replaces by
 * renaming another, and there are none for folders of other machines.
 */
const LOOK_EVERY_MS = 300

async function deployAtEveryChange(
  folder: string,
  options: DeployOptions,
  api: BinderyClient,
  run: Run,
): Promise<ExitCode> {
  const { terminal } = run
  assertFolder(folder)
  let deployed: string | undefined
  while (!terminal.interrupted.aborted) {
    const state = folderState(folder)
    if (state === deployed) {
      await pause(LOOK_EVERY_MS, terminal)
      continue
    }
    if (deployed !== undefined) {
      await pause(QUIET_MS, terminal)
      if (folderState(folder) !== state) continue
    }
    deployed = state
    await deployWhileWatching(folder, options, api, run)
    say(run, terminal.colors.dim(`Watching ${folder}. Press Ctrl-C to stop.\n`))
  }
  return EXIT.ok
}

/** While watching, a failure that the next change may correct does not end the command. */
async function deployWhileWatching(
  folder: string,
  options: DeployOptions,
  api: BinderyClient,
  run: Run,
): Promise<void> {
  try {
    await deployOnce(folder, options, api, run)
  } catch (problem) {
    const failure = failureOf(problem)
    if (failure?.exit === EXIT.interrupted) return
    if (!failure || failure.exit === EXIT.signedOut) throw problem
    show(run, { ok: false, error: failure.message }, () => '')
    say(run, `${run.terminal.colors.red('error')}  ${failure.message}\n`)
  }
}
