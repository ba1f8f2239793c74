import { describe, expect, test } from 'vitest'
import {
  type Base,
  CHECK_NAME,
  checkNameOf,
  checkNames,
  isGated,
  isTenancyCheck,
  ownCheckName,
} from '../../src/gate/check-names.ts'

const BRANCHES = ['main', 'staging', 'release (old)'] as const

/** What rules of a branch may require of us: nothing, the plain name, its own, another base's, both, or nobody can say. */
function rulesOf(branch: string): readonly Base['required'][] {
  const other = BRANCHES.find(one => one !== branch)!
  const [own, foreign] = [checkNameOf(branch), checkNameOf(other)]
  return [[], [CHECK_NAME], [own], [foreign], [CHECK_NAME, own], undefined]
}

const statesOf = (branch: string): readonly (Base | undefined)[] => [
  undefined, // there is no such branch, or nobody asks about it
  ...[false, true].flatMap(followed => rulesOf(branch).map(required => ({ branch, followed, required }))),
]

/** Every world of up to three bases: 13 states of each. */
const WORLDS: readonly (readonly Base[])[] = statesOf(BRANCHES[0]).flatMap(a =>
  statesOf(BRANCHES[1]).flatMap(b => statesOf(BRANCHES[2]).map(c => [a, b, c].filter(one => one !== undefined))),
)

/** Calls with every base of every world as the aim. */
function each(visit: (bases: readonly Base[], aim: Base) => void): void {
  for (const bases of WORLDS) for (const aim of bases) visit(bases, aim)
}

describe('the names of checks, over every world of three bases', () => {
  test('a base that is not gated gets none, every other one gets its own', () => {
    expect(WORLDS).toHaveLength(13 ** 3)
    each((bases, aim) => {
      const names = checkNames(bases, aim.branch).map(({ name }) => name)
      if (!isGated(aim)) return expect(names).toEqual([])
      expect(names[0]).toBe(ownCheckName(bases, aim.branch))
    })
  })

  test('the plain name is the own one exactly where no other base is gated', () => {
    each((bases, aim) => {
      const others = bases.filter(one => one !== aim && isGated(one))
      expect(ownCheckName(bases, aim.branch)).toBe(others.length === 0 ? CHECK_NAME : checkNameOf(aim.branch))
    })
  })

  test('every name of ours that the rules of the base require is published, and no other one but its own', () => {
    each((bases, aim) => {
      if (!isGated(aim)) return
      const names = checkNames(bases, aim.branch).map(({ name }) => name)
      const wanted = new Set([ownCheckName(bases, aim.branch), ...(aim.required ?? [CHECK_NAME])])
      expect(new Set(names)).toEqual(wanted)
      expect(names).toHaveLength(wanted.size)
    })
  })

  test('a check is about every base at which its name would let the head be merged', () => {
    each((bases, aim) => {
      for (const { name, bases: about } of checkNames(bases, aim.branch)) {
        expect(about).toContain(aim.branch)
        for (const base of bases) {
          const lets = base.required?.includes(name) || (name === CHECK_NAME && isGated(base))
          if (lets) expect(about).toContain(base.branch)
          else if (base !== aim && name !== checkNameOf(base.branch)) expect(about).not.toContain(base.branch)
        }
      }
    })
  })

  test('a name that is published for one base only satisfies the rules of no other', () => {
    each((bases, aim) => {
      for (const { name, bases: about } of checkNames(bases, aim.branch)) {
        if (about.length > 1) continue
        for (const base of bases) if (base !== aim) expect(base.required ?? []).not.toContain(name)
      }
    })
  })

  test('it is noted which bases there is something to evaluate about', () => {
    each((bases, aim) => {
      for (const { bases: about, followed } of checkNames(bases, aim.branch)) {
        const all = bases.filter(one => one.followed && about.includes(one.branch))
        expect(followed).toEqual(all.map(({ branch }) => branch).sort())
      }
    })
  })
})

test('two bases never share a name, and a name is told from one of others', () => {
  const branches = ['main', 'main)', 'a) (b', '', 'Main', 'main ', 'x'.repeat(250)]
  expect(new Set(branches.map(checkNameOf)).size).toBe(branches.length)
  for (const name of [CHECK_NAME, ...branches.map(checkNameOf)]) expect(isTenancyCheck(name)).toBe(true)
  for (const name of ['bailiwick / branch', 'bailiwick / tenancy2', 'bailiwick / tenancy (x', 'Bailiwick / Tenancy']) {
    expect(isTenancyCheck(name)).toBe(false)
  }
})
