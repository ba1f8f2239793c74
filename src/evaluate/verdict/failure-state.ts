import { message, part } from '../../message/message.ts'
import { fixOf, sayingOf, typedMessage } from '../../message/said.ts'
import { BASELINE_FILE, type Baseline, isAccepted } from '../../rules/model/baseline.ts'
import type { NodeFailure } from '../../rules/model/finding.ts'
import type { KnownHidden } from './known-hidden.ts'

/** The causes that the base has, with what each hides there, and those that the fleet's baseline accepts. */
export class KnownFailures {
  readonly #hidden: KnownHidden
  readonly #causes = new Set<string>()
  readonly #accepted: Baseline

  constructor(before: readonly NodeFailure[], accepted: Baseline, hidden: KnownHidden) {
    this.#accepted = accepted
    this.#hidden = hidden
    for (const { fingerprint } of before) this.#causes.add(fingerprint)
  }

  /**
   * A failure with its state. It stands where the base has the same cause, anywhere, and it hides the same there; or where
   * the baseline accepts exactly these bytes. The same cause that hides other bytes, or has them applied in another way, says
   * so, and how to get past.
   */
  withState(failure: NodeFailure): NodeFailure {
    const { fingerprint, hides } = failure
    if (hides === undefined) return failure
    if (isAccepted(this.#accepted, failure) || this.#hidden.has(failure)) return { ...failure, state: 'standing' }
    if (this.#hidden.hasBytes(failure)) return unseen(failure, 'is applied anew: in another place or form')
    const wasKnown = this.#causes.has(fingerprint) || this.#accepted.get(fingerprint)?.hides !== undefined
    return wasKnown && hides !== '' ? unseen(failure, 'changed') : failure
  }
}

/** An existing error that now hides unknown content. */
function unseen(failure: NodeFailure, how: 'changed' | 'is applied anew: in another place or form'): NodeFailure {
  const { origin, fingerprint, hides = '' } = failure
  const file = origin.file === '' ? message`it` : part('path', origin.file)
  const fix = fixOf(failure)
  const stop = /^$|[.!?]$/.test(failure.fix) ? message`` : message`.`
  const { said: _said, saidFix: _fix, ...rest } = failure
  return {
    ...rest,
    ...sayingOf(
      message`${typedMessage(failure)}. What is not evaluated because of ${file} ${how}, so it may be anything`,
      message`${fix}${stop} To accept exactly these bytes unseen, list ${part('value', `{fingerprint: "${fingerprint}", hides: ["${hides}"]}`)} under errors in ${part('path', BASELINE_FILE)} of the fleet (\`bailiwick baseline\` writes it); a fleet admin approves that.`,
    ),
  }
}
