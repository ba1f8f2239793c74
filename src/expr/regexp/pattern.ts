import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { compilePattern, type Pattern, PatternError } from './compile-pattern.ts'

/** A regular expression and where it stands. */
interface WrittenPattern {
  readonly text: string
  readonly origin: Origin
}

/** Takes the work of matching; throws `render-limits` for too much. */
export interface StepBudget {
  spend(what: 'steps', amount: number, origin: Origin): void
}

/** Most patterns are a name. */
const LITERAL = /^[A-Za-z0-9_-]+$/

/**
 * Whether the regular expression of a patch target matches all of `text`; kustomize puts it between `^(?:` and `)$`.
 * Runs in linear time on any pattern. Throws `kustomize-invalid` for what Go's regexp refuses, `kustomize-unsupported`
 * for the little that may differ between its releases, and for very large patterns, `render-limits` for much work.
 */
export function matchesPattern(pattern: WrittenPattern, text: string, budget: StepBudget): boolean {
  if (LITERAL.test(pattern.text)) return pattern.text === text
  return isFound(compile(pattern, true), text, pattern, budget)
}

/** Whether a part of `text` matches, as Go's MatchString would say. Otherwise as `matchesPattern`. */
export function containsPattern(pattern: WrittenPattern, text: string, budget: StepBudget): boolean {
  return isFound(compile(pattern, false), text, pattern, budget)
}

/** Throws what matching with this pattern would throw. */
export function checkPattern(pattern: WrittenPattern): void {
  if (!LITERAL.test(pattern.text)) compile(pattern, true)
}

function compile(pattern: WrittenPattern, whole: boolean): Pattern {
  try {
    return compilePattern(whole ? `^(?:${pattern.text})$` : pattern.text)
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    const named = `regular expression ${JSON.stringify(pattern.text.slice(0, 100))}`
    const { origin } = pattern
    if (error.invalid) throw new BailiwickError('kustomize-invalid', `${named}: ${error.message}`, { origin })
    const why = `${named}: contains ${error.message}, which is not supported`
    throw new BailiwickError('kustomize-unsupported', why, { origin })
  }
}

/** What any pattern costs for a name; every entry that has one pays for each object anyway. */
const FREE_WORK = 200
const WORK_PER_STEP = 10

function isFound(found: Pattern, text: string, { origin }: WrittenPattern, budget: StepBudget): boolean {
  const work = found.work(text.length)
  if (work > FREE_WORK) budget.spend('steps', Math.ceil((work - FREE_WORK) / WORK_PER_STEP), origin)
  return found.isIn(text)
}

/** How the texts that match one pattern relate to those that match another. */
type PatternRelation = 'within' | 'apart' | 'unknown'

/** A pattern of file names: `^`, a text, `.*`, an ending of YAML files and `$`, each of which may be missing. */
const SHAPE =
  /^(\^?)((?:[^.+*?()[\]{}|^$\\\n]|\\[.+*?()[\]{}|^$\\])*?)((?:\.\*)?)((?:\\?\.(?:yaml|ya\?ml|\((?:\?:)?(?:yaml\|yml|yml\|yaml)\)))?)(\$?)$/

function shapeOf(pattern: string) {
  const [all, start, text = '', rest, ending = '', end] = SHAPE.exec(pattern) ?? []
  if (all === undefined) return undefined
  const endsAs = ending === '' ? 'open' : ending.includes('yaml') && !/yml|\?m/.test(ending) ? 'yaml' : 'both'
  const hasDot = !ending.startsWith('.')
  return {
    isAnchored: start === '^',
    text: text.replace(/\\(.)/g, '$1'),
    hasAny: rest !== '',
    endsAs,
    hasDot,
    isWhole: end === '$',
  }
}

/**
 * Whether every text that matches `inner` also matches `outer` (`within`), or none matches both (`apart`). Known for the
 * same pattern, and for the files of a folder, `^FOLDER/.*\.yaml$`, against a pattern of the same kind or a shorter one.
 */
export function comparePatterns(inner: string, outer: string): PatternRelation {
  if (inner === outer) return 'within'
  const [one, other] = [shapeOf(inner), shapeOf(outer)]
  if (!one || !other || !one.isAnchored) return 'unknown'
  const isBelow = one.text.startsWith(other.text)
  if (other.isAnchored && !isBelow && !other.text.startsWith(one.text)) return 'apart'
  const isFound = other.isAnchored ? isBelow : one.text.includes(other.text)
  if (!isFound) return 'unknown'
  // what follows the text in `outer` is found behind it in every text of `inner`
  const isFolder = one.hasAny && one.isWhole
  if (other.endsAs === 'open') return !other.isWhole || (other.hasAny && isFolder) ? 'within' : 'unknown'
  const isOpen = other.hasAny || (other.text === '' && !other.isAnchored)
  const endsAlike = (one.endsAs === 'yaml' || one.endsAs === other.endsAs) && (one.hasDot || !other.hasDot)
  return isFolder && isOpen && endsAlike ? 'within' : 'unknown'
}
