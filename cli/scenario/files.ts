// Scenario files on disk, and the policies that they name by file.
import { readFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { countText } from '../../src/kernel/text.ts'
import { usage } from '../exit.ts'
import { fileProblem } from '../file-problem.ts'
import { scenarioFiles } from '../folder.ts'
import { readPolicyFile } from '../offline/policy-file.ts'
import { readScenarios, type Scenario, type ScenarioFile } from './format.ts'

/** Returns the named files, or else all next to the configuration. Rejects a folder without scenarios, and missing files. */
export function readScenarioFiles(folder: string, named: readonly string[]): ScenarioFile[] {
  const files = named.length > 0 ? named : scenarioFiles(folder)
  if (files.length === 0)
    throw usage(
      `There are no scenarios for '${folder}'. Write the first as scenarios/NAME.yaml next to the configuration (docs/testing.md).`,
    )
  return files.map(file => readScenarios(file, textOf(file), basename(file).replace(/\.\w+$/, '')))
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code === 'ENOENT')
      throw usage(`There is no scenario file '${file}'. Paths are relative to the current folder.`)
    throw usage(`The scenario file '${file}' cannot be read: ${fileProblem(problem)}.`)
  }
}

/** Whether the scenario's name, or that of its file, contains the text, ignoring case. */
export const scenarioFilter =
  (filter: string | undefined) =>
  (file: string, { name }: Scenario): boolean =>
    filter === undefined || `${file} ${name}`.toLowerCase().includes(filter.toLowerCase())

/** Finds policies relative to the folder of the scenario's own file. In a list, `FILE#2` is the second. */
export const policyReaderFor = (file: string) => (name: string) => {
  const [, path = name, number] = /^(.*?)(?:#(\d+))?$/.exec(name) ?? []
  const cases = readPolicyFile(isAbsolute(path) ? path : join(dirname(file), path))
  const found = cases[number === undefined ? 0 : Number(number) - 1]
  if (!found)
    throw usage(
      `'${path}' has ${countText(cases.length, 'policy', 'policies')}, so there is no number ${number}.`,
    )
  return found
}
