import { type ChildProcess, spawn } from 'node:child_process'
import type { Result } from './outcome.ts'
import { type Plain, readJsonExactly } from './read-output.ts'

/** How long one answer may take before the program counts as hanging. */
const PATIENCE = 60_000

interface Waiting {
  readonly settle: (result: Result) => void
  readonly timer: NodeJS.Timeout
}

/**
 * A program that answers JSON lines with JSON lines: `bailiwick render --stdin` or flux-render. One that dies or hangs
 * gives a crash for the request that it was at, and is started anew for the next.
 */
export class LineProgram {
  private readonly command: readonly string[]
  private child: ChildProcess | undefined
  private waiting: Waiting[] = []
  private stderr = ''
  /** Of an answer that is not there as a whole. */
  private rest = ''

  constructor(command: readonly string[]) {
    this.command = command
  }

  ask(request: unknown): Promise<Result> {
    this.child ??= this.start()
    const { stdin } = this.child
    return new Promise(settle => {
      const timer = setTimeout(() => this.end('no answer within a minute'), PATIENCE)
      this.waiting.push({ settle, timer })
      stdin?.write(`${JSON.stringify(request)}\n`)
    })
  }

  /** How many requests wait for their answer. */
  get load(): number {
    return this.waiting.length
  }

  close(): void {
    this.child?.stdin?.end()
  }

  // the Go program spends half of its time on collecting garbage unless it is told to wait
  private start(): ChildProcess {
    const [program = '', ...args] = this.command
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, GOGC: '1000' } })
    this.stderr = ''
    this.rest = ''
    child.stderr.on('data', chunk => {
      this.stderr = (this.stderr + String(chunk)).slice(0, 600)
    })
    child.stdin.on('error', () => undefined)
    // readline takes U+2028 for the end of a line, too
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (this.rest + chunk).split('\n')
      this.rest = lines.pop() ?? ''
      for (const line of lines) this.answer(line)
    })
    child.once('error', error => this.end(error.message))
    child.once('exit', code => {
      if (this.child === child) this.end(`exit ${code}: ${this.stderr}`)
    })
    return child
  }

  private answer(line: string): void {
    const first = this.waiting.shift()
    if (!first) return
    clearTimeout(first.timer)
    first.settle(resultOf(line))
  }

  /** The first waiting request is what the program was at; the others are as lost, and said so. */
  private end(crash: string): void {
    const { child, waiting } = this
    this.child = undefined
    this.waiting = []
    child?.kill('SIGKILL')
    for (const { settle, timer } of waiting) {
      clearTimeout(timer)
      settle({ crash })
    }
  }
}

/** Several of the same program, to keep every core busy. */
export class LinePrograms {
  private readonly programs: readonly LineProgram[]

  constructor(command: readonly string[], count: number) {
    this.programs = Array.from({ length: count }, () => new LineProgram(command))
  }

  ask(request: unknown): Promise<Result> {
    return this.programs.reduce((free, program) => (program.load < free.load ? program : free)).ask(request)
  }

  close(): void {
    for (const program of this.programs) program.close()
  }
}

function resultOf(line: string): Result {
  const answer = readJsonExactly(line) as { readonly [key: string]: Plain }
  const files = Array.isArray(answer.files) ? { files: answer.files as string[] } : {}
  if (typeof answer.error === 'string') return { error: answer.error, ...files }
  return { objects: Array.isArray(answer.objects) ? answer.objects : [], ...files }
}
