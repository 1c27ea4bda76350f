// One browser for all prints of a run, controlled by its own protocol. It starts when a test first prints and ends with `close`.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

function installed(...names: string[]): string | undefined {
  for (const name of names)
    try {
      return execFileSync('which', [name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    } catch {}
  return undefined
}

/**
 * From Debian's package of that name: the same browser without windows. The command in /usr/bin is a script, and leaves the
 * browser running when killed.
 */
const SHELL = '/usr/lib/chromium/chromium-headless-shell'

/**
 * The path of the browser. If it is undefined, comparisons with the browser are skipped. With the shell, tests of the console
 * use a quarter less processor time.
 */
export const BROWSER = installed(SHELL, 'chromium', 'chromium-browser', 'google-chrome')
if (!BROWSER)
  console.warn('SKIPPED: no browser (chromium) is installed, so PDFs are not compared with its prints.')

/** Options of the protocol's `Page.printToPDF`. Lengths are in inches. */
export type PrintOptions = {
  landscape?: boolean
  displayHeaderFooter?: boolean
  headerTemplate?: string
  footerTemplate?: string
  printBackground?: boolean
  paperWidth?: number
  paperHeight?: number
  marginTop?: number
  marginRight?: number
  marginBottom?: number
  marginLeft?: number
  preferCSSPageSize?: boolean
}

/** Allows only the service's own fonts, no matter which the machine has. */
export function fontsIn(folder: string): string {
  const file = join(folder, 'fonts.conf')
  const folders = ['@expo-google-fonts/noto-sans', 'dejavu-fonts-ttf/ttf'].map(
    path => `<dir>${resolve('node_modules', path)}</dir>`,
  )
  writeFileSync(
    file,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${folders.join('')}<cachedir>${folder}</cachedir></fontconfig>`,
  )
  return file
}

type Answer = { id: number; result?: Record<string, unknown>; error?: { message: string } }

/** A browser without a window. */
export class PrintingBrowser {
  readonly #process: ChildProcess
  readonly #socket: WebSocket
  readonly #folder: string
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  #asked = 0

  private constructor(process: ChildProcess, socket: WebSocket, folder: string) {
    this.#process = process
    this.#socket = socket
    this.#folder = folder
    socket.addEventListener('message', ({ data }) => {
      const answer = JSON.parse(String(data)) as Answer
      this.#waiting.get(answer.id)?.(answer)
      this.#waiting.delete(answer.id)
    })
  }

  static async start(): Promise<PrintingBrowser> {
    const folder = mkdtempSync(join(tmpdir(), 'bindery-browser-'))
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run']
    const browser = spawn(
      BROWSER!,
      [...flags, '--remote-debugging-port=0', `--user-data-dir=${folder}`, 'about:blank'],
      { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, FONTCONFIG_FILE: fontsIn(folder) } },
    )
    const address = await new Promise<string>((resolve, reject) => {
      let text = ''
      browser.stderr!.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        const found = /DevTools listening on (ws:\S+)/.exec(text)?.[1]
        if (found) resolve(found)
      })
      browser.once('exit', () => reject(new Error(`The browser did not start:\n${text}`)))
    })
    const socket = new WebSocket(address)
    await once(socket, 'open')
    return new PrintingBrowser(browser, socket, folder)
  }

  async #ask(method: string, params: object, sessionId?: string): Promise<Record<string, unknown>> {
    this.#asked += 1
    const id = this.#asked
    const answer = await new Promise<Answer>(resolve => {
      this.#waiting.set(id, resolve)
      this.#socket.send(JSON.stringify({ id, method, params, sessionId }))
    })
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`)
    return answer.result!
  }

  /** Prints the HTML as a PDF, without running its scripts. */
  async print(html: string, options: PrintOptions = {}): Promise<Uint8Array> {
    const { targetId } = await this.#ask('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await this.#ask('Target.attachToTarget', { targetId, flatten: true })
    const ask = (method: string, params: object) => this.#ask(method, params, sessionId as string)
    try {
      await ask('Emulation.setScriptExecutionDisabled', { value: true })
      const { frameTree } = (await ask('Page.getFrameTree', {})) as { frameTree: { frame: { id: string } } }
      await ask('Page.setDocumentContent', { frameId: frameTree.frame.id, html })
      const { data } = await ask('Page.printToPDF', { ...options })
      return new Uint8Array(Buffer.from(data as string, 'base64'))
    } finally {
      await this.#ask('Target.closeTarget', { targetId })
    }
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit')
    this.#socket.close()
    this.#process.kill()
    await ended
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
