import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { blocksOf } from './blocks-of.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** A block of commands of a page, with the exit code and the output that the page shows. */
export interface Step {
  readonly line: number
  readonly commands: string
  readonly code: number
  readonly output: string
}

export type Ran = Pick<Step, 'code' | 'output'> & { readonly stderr: string }

/**
 * The `sh` blocks of a page without a comment of their own, or those with this one, as `run by FILE`. The `text` block that
 * follows is the output, behind a line `Exit code N:` where the code is not 0.
 */
export function stepsOf(page: string, comment?: string): readonly Step[] {
  const blocks = blocksOf(page)
  const lines = page.split('\n')
  return blocks.flatMap((block, index) => {
    if (block.language !== 'sh' || block.comment !== comment) return []
    const commands = `${block.text}\n`
    const next = blocks[index + 1]
    const end = block.line + block.text.split('\n').length + 1
    const between =
      next?.language === 'text' ? lines.slice(end, next.line - 1).filter(line => line.trim() !== '') : ['']
    const [, code] = /^Exit code (\d+):$/.exec(between[0] ?? '') ?? []
    const follows = between.length === 0 || (between.length === 1 && code !== undefined)
    return [{ line: block.line, commands, ...(follows ? { code: Number(code ?? 0), output: next?.text ?? '' } : NONE) }]
  })
}

const NONE = { code: 0, output: '' }

/** Runs blocks of commands one after the other, as a person in one shell who starts in an empty home. */
export class Shell {
  readonly #home: string
  #folder: string

  constructor(home: string) {
    this.#home = home
    this.#folder = home
    const command = join(home, '.bin/bailiwick')
    mkdirSync(join(home, '.bin'))
    writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${ROOT}/src/surface/cli/bailiwick.js' "$@"\n`)
    chmodSync(command, 0o755)
  }

  run(commands: string): Ran {
    const state = join(this.#home, '.folder')
    const script = `${commands}\ncode=$?\npwd > '${state}'\nexit $code\n`
    const { status, stdout, stderr } = spawnSync('bash', ['-c', script], {
      cwd: this.#folder,
      env: { PATH: `${this.#home}/.bin:${process.env.PATH}`, HOME: this.#home, ...PERSON },
      encoding: 'utf8',
    })
    this.#folder = readFileSync(state, 'utf8').trim()
    return { code: status ?? -1, output: stdout.trim(), stderr }
  }
}

const PERSON = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap(role => [
    [`GIT_${role}_NAME`, 'Dora'],
    [`GIT_${role}_EMAIL`, 'dora@acme.example'],
  ]),
)
