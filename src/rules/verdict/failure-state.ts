import type { NodeFailure } from '../finding.ts'
import { BASELINE_FILE, type Baseline, isAccepted } from './baseline.ts'

/** The causes that the base has, with what each hides there, and those that the fleet's baseline accepts. */
export class KnownFailures {
  readonly #stands = new Set<string>()
  readonly #causes = new Set<string>()
  readonly #accepted: Baseline

  constructor(before: readonly NodeFailure[], accepted: Baseline) {
    this.#accepted = accepted
    for (const { fingerprint, hides } of before) {
      this.#causes.add(fingerprint)
      if (hides !== undefined) this.#stands.add(`${fingerprint} ${hides}`)
    }
  }

  /**
   * A failure with its state. It stands where the base has the same cause, anywhere, and it hides the same there; or where
   * the baseline accepts exactly these bytes. The same cause that hides other bytes says so, and how to get past.
   */
  withState(failure: NodeFailure): NodeFailure {
    const { fingerprint, hides } = failure
    if (hides === undefined) return failure
    if (isAccepted(this.#accepted, failure) || this.#stands.has(`${fingerprint} ${hides}`))
      return { ...failure, state: 'standing' }
    const wasKnown = this.#causes.has(fingerprint) || this.#accepted.get(fingerprint)?.hides !== undefined
    return wasKnown && hides !== '' ? changed(failure) : failure
  }
}

/** The error stood before, but nobody has seen what it hides now. */
function changed(failure: NodeFailure): NodeFailure {
  const { message, fix, origin, fingerprint, hides } = failure
  const file = origin.file === '' ? 'it' : origin.file
  return {
    ...failure,
    message: `${message}. What is not evaluated because of ${file} changed, so it may be anything`,
    fix: `${sentence(fix)} To accept exactly these bytes unseen, list {fingerprint: "${fingerprint}", hides: ["${hides}"]} under errors in ${BASELINE_FILE} of the fleet (\`bailiwick baseline\` writes it); a fleet admin approves that.`,
  }
}

const sentence = (text: string) => (text === '' || /[.!?]$/.test(text) ? text : `${text}.`)
