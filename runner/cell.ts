// The process that tenant code runs in, one call after the other (cells.ts starts it and ends it). Nothing here limits how long
// a call takes: a function of the language can run for hours, and meanwhile nothing else of this thread does.
import { readFileSync } from 'node:fs'
import {
  type QuickjsProgram,
  quickjs,
  quickjsProgram,
  TOO_MUCH,
} from '../src/extension/plugins/runners/quickjs.ts'
import { frameReader, writeFrame } from './frames.ts'
import { INTERPRETER_FILE } from './interpreter-file.ts'

/** The types are the Worker's, which compiles nothing while it runs. */
const { Module } = WebAssembly as unknown as { Module: new (bytes: Uint8Array) => WebAssembly.Module }

const wasm = readFileSync(INTERPRETER_FILE)
const interpreter = await quickjs(new Module(wasm))

const programs = new Map<string, QuickjsProgram>()

/** Parts: key of the program, the program where it is new here, the call, and the key of one to forget. */
const take = ([key, program, call, forgotten]: Buffer[]): void => {
  programs.delete(forgotten!.toString())
  const name = key!.toString()
  if (program!.length > 0) programs.set(name, quickjsProgram(JSON.parse(program!.toString())))
  try {
    const { text, isStopped } = interpreter.run(programs.get(name)!, call!.toString())
    answer(text, isStopped ? 'stopped' : 'done')
  } catch (problem) {
    if (!(problem instanceof WebAssembly.RuntimeError || problem instanceof RangeError)) throw problem
    answer(TOO_MUCH.text, 'broken')
    return
  }
  // Between two calls, when nobody waits.
  setImmediate(() => interpreter.prepare())
}

const answer = (text: string, ending: 'done' | 'stopped' | 'broken'): void =>
  writeFrame(process.stdout, [Buffer.from(ending), Buffer.from(text)])

process.stdin.on('data', frameReader(take))
interpreter.prepare()
writeFrame(process.stdout, [])
