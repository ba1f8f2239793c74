import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decideRead } from '../../../src/fleet/sources/sources.ts'

type ReadQuestion = Parameters<typeof decideRead>[0]

const url = 'https://github.com/acme/hidden'
const nothing: ReadQuestion = {
  ...{ byPlatform: false, declared: false, listed: undefined, standsThere: false },
  ...{ isNew: true, withheld: false, fact: undefined, adopted: false },
}
const fact = (more: { readonly public?: boolean; readonly people?: boolean }) => ({ url, public: false, ...more })

const PLACE = { repository: 'https://github.com/acme/dev-team', commit: '', file: 'deploy/more.yaml' }

test.each<[string, Partial<ReadQuestion>, string]>([
  ['declared by the platform on the base', { declared: true }, 'read'],
  ['listed as a repository of the tenant', { listed: 'repository' }, 'read'],
  ['standing in itself', { standsThere: true }, 'read'],
  ['matching a pattern of the tenant', { listed: 'pattern' }, 'read lent'],
  ['public', { fact: fact({ public: true }) }, 'read lent'],
  ['public, and declared by the platform', { byPlatform: true, fact: fact({ public: true }) }, 'read'],
  ['unknown: the question is asked first', {}, 'ask people'],
  ['unknown and on the base already: nobody is asked who brought it', { isNew: false }, 'ask'],
  ['readable by everybody who brought the change', { fact: fact({ people: true }) }, 'read lent'],
  ['readable by them, but on the base already', { isNew: false, fact: fact({ people: true }) }, 'refused'],
  ['not readable by all of them', { fact: fact({ people: false }) }, 'refused'],
  ['private, and nobody was asked about the people yet', { fact: fact({}) }, 'ask people'],
  ['private and on the base already', { isNew: false, fact: fact({}) }, 'refused'],
  ['where the change itself is', { withheld: true, fact: fact({ public: true }) }, 'refused'],
  ['where the change itself is, and listed', { withheld: true, listed: 'repository' }, 'read'],
  ['brought by who administers it', { adopted: true, isNew: false, fact: fact({}) }, 'read'],
  ['where the change itself is, and brought by who administers it', { adopted: true, withheld: true }, 'read'],
  ['brought by who is not known yet', { adopted: PLACE, fact: fact({ public: true }) }, 'ask'],
  ['newly declared by the platform', { byPlatform: true, fact: fact({ people: false }) }, 'refused'],
])('a repository %s', (_what, given, wanted) => {
  const decision = decideRead({ ...nothing, ...given })
  const flag =
    decision.state === 'ask' ? decision.people && 'people' : decision.state === 'read' && decision.lent && 'lent'
  expect(flag ? `${decision.state} ${flag}` : decision.state).toBe(wanted)
})

const questions = fc.record<ReadQuestion>({
  byPlatform: fc.boolean(),
  declared: fc.boolean(),
  listed: fc.constantFrom(undefined, 'repository', 'pattern'),
  standsThere: fc.boolean(),
  isNew: fc.boolean(),
  withheld: fc.boolean(),
  adopted: fc.constantFrom<ReadQuestion['adopted'][]>(true, false, PLACE),
  fact: fc.constantFrom(undefined, fact({}), fact({ public: true }), fact({ people: true }), fact({ people: false })),
})

test('nothing is read that nothing allows, and nothing that a tenant alone declares gates a repository', () => {
  fc.assert(
    fc.property(questions, question => {
      const decision = decideRead(question)
      const { declared, listed, standsThere, fact: known, isNew, byPlatform } = question
      const isAdopted = !byPlatform && question.adopted === true
      const isAllowed = declared || standsThere || listed !== undefined || isAdopted
      const isOpen = known?.public === true || (isNew && known?.people === true)
      if (decision.state !== 'read') return
      expect(isAllowed || isOpen).toBe(true)
      expect(decision.lent).toBe(!(declared || standsThere || listed === 'repository' || byPlatform || isAdopted))
    }),
    { numRuns: 2_000 },
  )
})
