import { BailiwickError } from '../../errors.ts'
import type { Origin } from '../../origin.ts'

/** Throws `yaml-ambiguous`: readers of YAML disagree on `what`. The rule of that name makes it a violation. */
export function refuseAmbiguous(what: string, origin: Origin, fix = FIX): never {
  throw new BailiwickError('yaml-ambiguous', ambiguous(what, origin), {
    origin,
    rule: 'yaml-ambiguous',
    fix,
    identity: `${origin.file} has ${what}; YAML readers disagree on it, or refuse it`,
  })
}

/** Throws `yaml-ambiguous` for what no reader of YAML should accept, and some do: it cannot be decided what it says. */
export function refuseUndecided(what: string, origin: Origin, fix = FIX): never {
  throw new BailiwickError('yaml-ambiguous', ambiguous(what, origin), { origin, fix })
}

const ambiguous = (what: string, { file }: Origin) =>
  `${file}: contains ${what}. YAML parsers read it differently, or reject it`

/** Throws `yaml-syntax`. `problem` must not quote the text, which may be a secret. */
export function refuseSyntax(problem: string, origin: Origin): never {
  const message = `${origin.file}: invalid YAML at line ${origin.line}: ${problem}`
  throw new BailiwickError('yaml-syntax', message, { origin, fix: `Correct the syntax at line ${origin.line}.` })
}

const FIX = 'Use plain YAML: quote text values, and write each key once.'
