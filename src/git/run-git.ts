import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { BailiwickError } from '../base/errors.ts'

/** Answers larger than this are no listing of a repository that we read. */
const MAX_OUTPUT = 512 * 1024 * 1024

/** Configuration that would run a program or reach out, switched off: a checkout's own config is not ours to trust. */
const SAFE = [
  '-c',
  'core.fsmonitor=',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.pager=cat',
  '-c',
  'core.quotePath=false',
]

interface GitAnswer {
  readonly status: number
  readonly output: Buffer
  /** What git says on stderr, in English; the start of it. */
  readonly message: string
}

/** What is kept of stderr: a sentence, not the progress of a large repository. */
const MAX_MESSAGE = 4096

/**
 * Runs git in a directory, without a shell and without the caller's GIT_* variables (inside a hook they name another
 * repository). Throws `git-missing` without a git program, `render-limits` for an endless answer.
 */
export function runGit(dir: string, args: readonly string[], input?: Uint8Array | string): Promise<GitAnswer> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...SAFE, ...args], { cwd: dir, env: environment(), stdio: 'pipe' })
    const chunks: Buffer[] = []
    let size = 0
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > MAX_OUTPUT) {
        child.kill()
        reject(new BailiwickError('render-limits', `git ${args[0]}: its output is larger than ${MAX_OUTPUT} bytes`))
      } else chunks.push(chunk)
    })
    let message = ''
    child.stderr.on('data', (chunk: Buffer) => {
      message = (message + chunk.toString('utf8')).slice(0, MAX_MESSAGE)
    })
    child.on('error', cause => reject(notStarted(dir, cause)))
    child.on('close', code => resolve({ status: code ?? 1, output: Buffer.concat(chunks), message }))
    // git may end before it has read everything; its status tells
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

/** The system gives one code for a program and for a working directory that is not there. */
function notStarted(dir: string, cause: Error): BailiwickError {
  if (!existsSync(dir))
    return new BailiwickError('git-missing', `${dir}: does not exist`, { fix: 'Name an existing folder.' })
  const message = `git: cannot be started (${cause.message})`
  return new BailiwickError('git-missing', message, { fix: 'Install git, and add it to PATH.', cause })
}

/** Runs git and returns what it prints; undefined when it ends with a failure. */
export async function askGit(
  dir: string,
  args: readonly string[],
  input?: Uint8Array | string,
): Promise<Buffer | undefined> {
  const { status, output } = await runGit(dir, args, input)
  return status === 0 ? output : undefined
}

/** The same at once, for what turns out to be needed while something else is built; undefined for a failure or more bytes. */
export function askGitNow(dir: string, args: readonly string[], maxBytes: number): Buffer | undefined {
  const options = { cwd: dir, env: environment(), maxBuffer: maxBytes }
  const { status, stdout } = spawnSync('git', [...SAFE, ...args], options)
  return status === 0 ? stdout : undefined
}

function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  return {
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    // a partial clone would fetch what it lacks, by programs that its configuration names; git before 2.44 knows only this
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    // a replace ref would show other content than the id says
    GIT_NO_REPLACE_OBJECTS: '1',
  }
}

/** Splits NUL-terminated records and decodes them. Throws `git-ambiguous` for a name that is not UTF-8. */
export function decodeRecords(what: string, output: Uint8Array): string[] {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(output)
  } catch (cause) {
    throw new BailiwickError('git-ambiguous', `${what}: a file name is not valid UTF-8`, {
      fix: 'Rename the file.',
      cause,
    })
  }
  return text.split('\0').filter(record => record !== '')
}
