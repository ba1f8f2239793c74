import { describe, expect, test } from 'vitest'
import {
  type Base,
  CHECK_NAME,
  checkNameOf,
  checkNames,
  isGated,
  isShared,
  isTenancyCheck,
  type NamedCheck,
  ownCheckName,
} from '../../../src/verdict/check-names.ts'

const BRANCHES = ['main', 'staging', 'release (old)'] as const

/** What rules of a branch may require of us: nothing, the plain name, its own, another base's, both, or nobody can say. */
function rulesOf(branch: string): readonly Base['required'][] {
  const other = BRANCHES.find(one => one !== branch)!
  const [own, foreign] = [checkNameOf(branch), checkNameOf(other)]
  return [[], [CHECK_NAME], [own], [foreign], [CHECK_NAME, own], undefined]
}

const statesOf = (branch: string): readonly (Base | undefined)[] => [
  undefined, // there is no such branch, or nobody asks about it
  ...[false, true].flatMap(followed =>
    rulesOf(branch).map(required => ({ branch, isDefault: branch === 'main', followed, required })),
  ),
]

/** Every world of up to three bases: 13 states of each. */
const WORLDS: readonly (readonly Base[])[] = statesOf(BRANCHES[0]).flatMap(a =>
  statesOf(BRANCHES[1]).flatMap(b => statesOf(BRANCHES[2]).map(c => [a, b, c].filter(one => one !== undefined))),
)

/** A commit that is the head of pull requests onto some of the bases, its checks, and what is known then. */
interface Head {
  readonly aims: readonly Base[]
  /** Followed bases, and the aims: of the others GitHub is not asked. */
  readonly bases: readonly Base[]
  readonly checks: readonly NamedCheck[]
}

/** Calls with every one or two bases of every world as the aims. */
function each(visit: (head: Head) => void): void {
  for (const world of WORLDS) {
    const pairs = world.flatMap((one, at) => [[one], ...world.slice(at + 1).map(other => [one, other])])
    for (const aims of pairs) {
      const bases = world.filter(base => base.followed || aims.includes(base))
      visit({
        aims,
        bases,
        checks: checkNames(
          bases,
          aims.map(({ branch }) => branch),
        ),
      })
    }
  }
}

const wants = (base: Base): readonly string[] =>
  isGated(base) ? [ownCheckName(base), ...(base.required ?? [CHECK_NAME])] : []

describe('the names of checks, over every world of three bases', () => {
  test('a gated base gets its own and each of ours that its rules require; others get none', () => {
    expect(WORLDS).toHaveLength(13 ** 3)
    each(({ aims, checks }) => {
      expect(new Set(checks.map(({ name }) => name))).toEqual(new Set(aims.flatMap(wants)))
    })
  })

  test('a name that may pass is about one base, and no rule of another base that clusters follow accepts it', () => {
    let shared = 0
    each(({ bases, checks }) => {
      for (const check of checks) {
        const accepting = bases.filter(base => wants(base).includes(check.name))
        for (const { branch } of accepting) expect(check.bases).toContain(branch)
        if (isShared(check)) shared++
        else if (accepting.some(({ followed }) => followed)) expect(check.bases).toHaveLength(1)
      }
    })
    expect(shared).toBeGreaterThan(1000)
  })

  test('a base whose rules require its own name alone passes under it, whatever the other bases require of themselves', () => {
    each(({ aims, bases, checks }) => {
      const isOwnOnly = (base: Base) => base.required?.every(name => name === ownCheckName(base)) ?? false
      if (!bases.every(isOwnOnly)) return
      expect(checks.filter(isShared)).toEqual([])
      expect(checks.map(({ name }) => name)).toEqual(aims.filter(isGated).map(ownCheckName))
    })
  })

  test('it is noted which bases there is something to evaluate about', () => {
    each(({ bases, checks }) => {
      for (const { bases: about, followed } of checks) {
        const all = bases.filter(one => one.followed && about.includes(one.branch))
        expect(followed).toEqual(all.map(({ branch }) => branch).sort())
      }
    })
  })
})

const base = (branch: string, required: Base['required'] = []): Base => ({
  ...{ branch, required, followed: required.length === 0, isDefault: branch === 'main' },
})

test('two bases never share a name, and a name is told from one of others', () => {
  const long = 'x'.repeat(243)
  const branches = ['main', 'main)', 'a)(b', '(main)', 'Main', 'm\u200bain', '\u202emain', `${long}a`, `${long}b`]
  const names = [CHECK_NAME, ...branches.map(checkNameOf)]
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) {
    expect(name.length).toBeLessThan(256)
    expect(isTenancyCheck(name)).toBe(true)
  }
  for (const name of ['bailiwick / branch', 'bailiwick / tenancy2', 'bailiwick / tenancy (x', 'Bailiwick / Tenancy']) {
    expect(isTenancyCheck(name)).toBe(false)
  }
})

test.each(['Stable', 'ſtable', 'sta\u200bble', 'stablé', 'ｓtable'])(
  'a branch %s does not pass under a name that looks like that of a followed branch',
  branch => {
    const name = checkNameOf(branch)
    const checks = checkNames([base('stable'), base(branch, [CHECK_NAME])], [branch])
    expect(checks.find(one => one.name === name)).toMatchObject({ bases: [branch, 'stable'].sort() })
    expect(checks.filter(check => !isShared(check)).map(one => one.name)).toEqual([CHECK_NAME])
  },
)
