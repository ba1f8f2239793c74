import { folderAt, type PushTarget, pushCommand, tagCommand } from './flux-command.ts'
import { isHarmless, PUSHES, STEERS } from './known-commands.ts'
import { NotUnderstood } from './not-understood.ts'
import { parseScript, type ShellCommand, type ShellStatement } from './shell-script.ts'
import type { Word } from './shell-words.ts'
import { beginsWith, isKnown, isSame, type Symbolic, shownText, unknownText } from './symbolic.ts'

/** An artifact that a run of a workflow pushes, or one that it may push. */
export interface Push extends PushTarget {
  readonly line: number
  /** Folder of the repository that is its root, and what is left out of it. */
  readonly content?: { readonly folder: string; readonly ignore?: readonly string[] }
  /** Why its content is not what git has, or not known to be. */
  readonly why?: string
}

/** What the steps of a job have done so far. */
export interface JobState {
  readonly env: Map<string, Symbolic>
  /** What later steps have in their environment, too. */
  readonly exported: Map<string, Symbolic>
  /** By `<step>.<name>`. */
  readonly outputs: Map<string, Symbolic>
  /** Of the whole run, in order. */
  readonly pushes: Push[]
  cwd: string
  isCheckedOut: boolean
  /** Why the checkout may differ from git. */
  changed: string | undefined
  /** So many commands were run whose result differs each time. */
  commands: number
}

/** How a script is run. */
interface ScriptRun {
  readonly state: JobState
  /** Id of the step. */
  readonly step: string
  /** Line in the file for a line in the script. */
  readonly lineOf: (line: number) => number
  /** It is not known whether it runs. */
  readonly isMaybe: boolean
  readonly depth: number
}

export const OUTPUT = '/github/output'
export const ENVIRONMENT = '/github/env'
const TO_NOWHERE = /^(?:\/dev\/(?:null|stderr|stdout)|\/github\/summary|\/tmp\/.+)$/
const ASSIGNMENT = /^([A-Za-z_]\w*)=/
const MAX_TEXT = 20_000

/** Does what a script does, as far as artifacts and the checkout are concerned. Throws NotUnderstood. */
export function runScript(script: string, run: ScriptRun): void {
  execute(parseScript(script, run.depth), run)
}

/** How a command ended: a test as it did, `done` for others. */
type Ended = boolean | undefined | 'done'

/** Whether it came to an `exit`. */
function execute(statements: readonly ShellStatement[], run: ScriptRun): boolean {
  let before: Ended = 'done'
  let isDiff = false
  for (const statement of statements) {
    if (statement.type === 'if') {
      if (branch(statement, run)) return true
      before = 'done'
      continue
    }
    const runs = isReached(statement.after, before, isDiff)
    if (runs === false) continue
    const here = { ...run, isMaybe: run.isMaybe || runs === undefined }
    const first = textOf(statement, here)
    isDiff = first.startsWith('flux diff artifact ')
    const isTest = /^\[\[? /.test(first)
    if (!isTest && perform(statement, here)) return true
    before = isTest ? test(statement, here) : first === 'false' ? false : 'done'
  }
  return false
}

const textOf = ({ words }: ShellCommand, run: ScriptRun) => words.map(word => expand(word, run)).join(' ')

/** Whether a command runs after the one before it; undefined: that is not known. */
function isReached(after: ShellCommand['after'], before: Ended, isDiff: boolean): boolean | undefined {
  if (after === '&&') return before === 'done' ? true : before
  if (after !== '||') return true
  // what does not differ is there already
  if (before === 'done') return isDiff ? true : undefined
  return before === undefined ? undefined : !before
}

function branch({ branches, otherwise }: ShellStatement & { type: 'if' }, run: ScriptRun): boolean {
  let isMaybe = run.isMaybe
  for (const { condition, body } of branches) {
    const is = test(condition, run)
    if (is === false) continue
    const ended = execute(body, { ...run, isMaybe: isMaybe || is === undefined })
    if (is) return ended && !isMaybe
    isMaybe = true
  }
  return execute(otherwise, { ...run, isMaybe })
}

/** What a condition gives; undefined where it is not known. */
function test(command: ShellCommand, run: ScriptRun): boolean | undefined {
  const words = command.words.map(word => expand(word, run))
  const [first, ...rest] = words
  if (first !== '[[' && first !== '[') {
    perform(command, run)
    return undefined
  }
  if (rest.pop() !== (first === '[[' ? ']]' : ']')) throw new NotUnderstood('has an unsupported condition')
  const isNegated = rest[0] === '!'
  const [one = '', operator, other = '', ...more] = isNegated ? rest.slice(1) : rest
  const is = more.length > 0 ? undefined : compare(one, operator, other, first === '[[')
  return isNegated && is !== undefined ? !is : is
}

function compare(
  one: Symbolic,
  operator: string | undefined,
  other: Symbolic,
  isPattern: boolean,
): boolean | undefined {
  if (one === '-n' && operator !== undefined) return isKnown(operator) ? operator !== '' : undefined
  if (one === '-z' && operator !== undefined) return isKnown(operator) ? operator === '' : undefined
  if (operator !== '==' && operator !== '=' && operator !== '!=') return undefined
  const same = fits(one, other, isPattern)
  return same === undefined ? undefined : same === (operator !== '!=')
}

/** Of patterns only a star at the end is followed. */
function fits(text: Symbolic, pattern: Symbolic, isPattern: boolean): boolean | undefined {
  if (!isPattern || !/[*?[]/.test(pattern)) return isSame(text, pattern)
  const start = pattern.slice(0, -1)
  return pattern.endsWith('*') && isKnown(start) && !/[*?[]/.test(start) ? beginsWith(text, start) : undefined
}

/** Runs one command; true where the script ends with it. */
function perform(command: ShellCommand, run: ScriptRun): boolean {
  const { state } = run
  let words = command.words.map(word => expand(word, run))
  if (words[0] === 'export' || words[0] === 'readonly') words = words.slice(1)
  const assigned = words.findIndex(
    (word, index) => !ASSIGNMENT.test(word) || !isAssignment(command.words.at(index - words.length)),
  )
  const assignments = assigned < 0 ? words : words.slice(0, assigned)
  const rest = words.slice(assignments.length)
  if (rest.length === 0) {
    for (const one of assignments) assign(state.env, one, run)
    return false
  }
  const where = run
  if (assignments.some(one => STEERS.test(ASSIGNMENT.exec(one)?.[1] ?? '')))
    throw new NotUnderstood('changes the search path for programs')
  write(command, rest, where)
  const line = run.lineOf(command.line)
  if (rest[0] === 'exit') return !where.isMaybe
  if (isHarmless(rest.map(shownText))) return false
  refuseSplit(command, run)
  if (rest[0] === 'cd') enter(rest, where)
  else if (rest[0] === 'flux' && rest[1] === 'push' && rest[2] === 'artifact') push(rest.slice(3), where, line)
  else if (rest[0] === 'flux' && rest[1] === 'tag' && rest[2] === 'artifact') retag(rest.slice(3), where, line)
  else {
    if (PUSHES.test(rest.join(' '))) {
      const why = `\`${cut(shownText(rest[0]!))}\` pushes there, and is not a supported command`
      for (const target of somewhere(rest.join(' '))) state.pushes.push({ ...target, line, why })
    }
    state.changed ??= `line ${line} runs \`${cut(shownText(rest.slice(0, 2).join(' ')))}\` earlier, which can change files`
  }
  return false
}

/** Refuses what a shell makes several words of, or other words. */
function refuseSplit({ words }: ShellCommand, { state }: ScriptRun): void {
  for (const piece of words.flat()) {
    if (piece.type === 'text' && !piece.quoted && /[*?[{]|^~/.test(piece.text))
      throw new NotUnderstood('has a file name pattern')
    const value = piece.type === 'variable' && !piece.quoted ? state.env.get(piece.name) : undefined
    if (value !== undefined && /[\s*?[]/.test(value)) throw new NotUnderstood('splits a variable into words')
  }
}

/** A quoted word is no assignment. */
const isAssignment = (word: Word | undefined) => word?.[0]?.type === 'text' && !word[0].quoted

const cut = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}...` : text)

function assign(env: Map<string, Symbolic>, text: string, { isMaybe, state }: ScriptRun): void {
  const name = ASSIGNMENT.exec(text)?.[1]
  if (name === undefined) return
  if (STEERS.test(name)) throw new NotUnderstood('changes the search path for programs')
  const value = text.slice(name.length + 1)
  if (value.length > MAX_TEXT) throw new NotUnderstood('creates text that is too long')
  env.set(name, isMaybe ? unknownText(`${name} ${++state.commands}`) : value)
}

function enter([, path = '']: readonly Symbolic[], { state, isMaybe }: ScriptRun): void {
  if (isMaybe) throw new NotUnderstood('changes the directory under a condition')
  state.cwd = folderAt(state.cwd, path)
}

/** Where output goes: to the runner's own files, or into the checkout. */
function write({ redirects, line }: ShellCommand, words: readonly Symbolic[], run: ScriptRun): void {
  const { state } = run
  for (const { target } of redirects) {
    const to = expand(target, run)
    if (to === OUTPUT || to === ENVIRONMENT) {
      const [, ...said] = words.filter(word => word !== '-n' && word !== '-e')
      const text = said.join(' ')
      if (to === ENVIRONMENT) {
        if (words[0] !== 'echo' || !ASSIGNMENT.test(text) || text.includes('\n'))
          throw new NotUnderstood('sets unknown variables')
        assign(state.exported, text, run)
      } else if (words[0] !== 'echo') continue
      else {
        const made = new Map<string, Symbolic>()
        assign(
          made,
          text.replace(/^([\w-]+)=/, name => name.replaceAll('-', '_')),
          run,
        )
        const name = /^[\w-]+/.exec(text)?.[0] ?? ''
        for (const value of made.values()) state.outputs.set(`${run.step}.${name}`, value)
      }
    } else if (!TO_NOWHERE.test(to)) {
      state.changed ??= `line ${run.lineOf(line)} writes the file ${cut(shownText(to))} earlier`
    }
  }
}

function push(words: readonly Symbolic[], { state, isMaybe }: ScriptRun, line: number): void {
  try {
    const { target, folder, ignore } = pushCommand(words, state.cwd)
    const why = isMaybe ? 'the condition of the push is unknown' : state.changed
    const content = { folder, ...(ignore ? { ignore } : {}) }
    state.pushes.push({ ...target, line, ...(why === undefined ? { content } : { why }) })
  } catch (error) {
    if (!(error instanceof NotUnderstood)) throw error
    const why = `the command ${error.message}`
    for (const target of somewhere(words.join(' '))) state.pushes.push({ ...target, line, why })
  }
}

/** Gives tags to what was pushed before, in this run or in another. */
function retag(words: readonly Symbolic[], { state, isMaybe }: ScriptRun, line: number): void {
  try {
    const { target, tags } = tagCommand(words)
    const pushed = state.pushes.findLast(one => one.repository === target.repository && one.tag === target.tag)
    const why =
      pushed?.why ??
      (isMaybe
        ? 'the condition of the tag is unknown'
        : pushed
          ? undefined
          : 'it tags something that was not pushed directly before')
    for (const tag of tags) {
      const content = pushed?.content
      state.pushes.push({
        repository: target.repository,
        tag,
        line,
        ...(why === undefined && content ? { content } : { why: why ?? '' }),
      })
    }
  } catch (error) {
    if (!(error instanceof NotUnderstood)) throw error
    const why = `the command ${error.message}`
    for (const target of somewhere(words.join(' '))) state.pushes.push({ ...target, line, why })
  }
}

/** The addresses that stand in a text, or any. */
export function somewhere(text: Symbolic): PushTarget[] {
  const found = text.replaceAll(/\0[^\0]*\0/g, '\0?\0').match(/[a-z0-9.-]+\.[a-z]+(?::\d+)?\/[^\s"']*/g)
  if (!found) return [{ repository: unknownText('address'), tag: unknownText('tag') }]
  return found.map(address => {
    const [repository = '', tag] = address.split(/:(?=[^/]*$)/)
    return { repository, tag: tag ?? unknownText('tag') }
  })
}

/** The text of a word, with the values of its variables. */
function expand(word: Word, run: ScriptRun): Symbolic {
  const text = word.map(piece => {
    if (piece.type === 'text') return piece.text
    if (piece.type === 'command') return captured(piece.script, run)
    const value = run.state.env.get(piece.name)
    if (value === undefined || piece.how === 'other') return unknownText(`${piece.written} ${value ?? ''}`)
    return piece.how === 'lower' ? lower(value) : value
  })
  const whole = text.join('')
  if (whole.length > MAX_TEXT) throw new NotUnderstood('creates text that is too long')
  return whole
}

const lower = (text: Symbolic) => (isKnown(text) ? text.toLowerCase() : unknownText(`lower ${text}`))

/** What a command prints, where that is plain; its effects are those of any other command. */
function captured(script: string, run: ScriptRun): Symbolic {
  const inner = { ...run, depth: run.depth + 1 }
  const statements = parseScript(script, inner.depth)
  const [first, second] = statements
  const words = first?.type === 'command' ? first.words.map(word => expand(word, inner)) : []
  const isEcho = words[0] === 'echo' && first?.type === 'command' && first.redirects.length === 0
  if (isEcho && statements.length === 1) return words.slice(1).join(' ')
  if (isEcho && first.piped && second?.type === 'command' && statements.length === 2) {
    const other = second.words.map(word => expand(word, inner)).join(' ')
    if (/^tr (?:\[:upper:\] \[:lower:\]|A-Z a-z|\[A-Z\] \[a-z\])$/.test(other)) return lower(words.slice(1).join(' '))
  }
  execute(statements, inner)
  const isStable = words[0] === 'git' && statements.length === 1
  return unknownText(isStable ? words.join(' ') : `command ${++run.state.commands}`)
}
