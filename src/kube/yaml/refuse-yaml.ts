import { BailiwickError } from '../../errors.ts'
import type { Origin } from '../../origin.ts'

/** Throws `yaml-ambiguous`: readers of YAML disagree on `what`. The rule of that name makes it a violation. */
export function refuseAmbiguous(what: string, origin: Origin, fix = FIX): never {
  const message = `${origin.file} has ${what}; YAML readers disagree on it, or refuse it`
  throw new BailiwickError('yaml-ambiguous', message, { origin, rule: 'yaml-ambiguous', fix })
}

/** Throws `yaml-ambiguous` for what no reader of YAML should accept, and some do: it cannot be decided what it says. */
export function refuseUndecided(what: string, origin: Origin, fix = FIX): never {
  const message = `${origin.file} has ${what}; YAML readers disagree on it, or refuse it`
  throw new BailiwickError('yaml-ambiguous', message, { origin, fix })
}

/** Throws `yaml-syntax`. `problem` must not quote the text, which may be a secret. */
export function refuseSyntax(problem: string, origin: Origin): never {
  const message = `${origin.file} is no valid YAML at line ${origin.line} (${problem})`
  throw new BailiwickError('yaml-syntax', message, { origin, fix: 'Correct the syntax at that line.' })
}

const FIX = 'Write it plainly: quote text, and write each key once.'
