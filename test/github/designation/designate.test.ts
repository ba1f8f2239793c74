import { describe, expect, test } from 'vitest'
import {
  confirmDesignation,
  type DesignationFacts,
  type DesignationRecord,
  designate,
  type OrganizationFile,
} from '../../../src/github/designate.ts'

const [FLEET, TENANT, GONE] = [1, 2, 9]
const readable = new Set([FLEET, TENANT])
const record = (more: Partial<DesignationRecord> = {}): DesignationRecord => ({
  ...{ installation: 7, at: FLEET, generation: 1, state: 'designated', by: 'installation' },
  fleets: [{ repository: FLEET }],
  ...more,
})
const facts = (more: Partial<DesignationFacts> = {}): DesignationFacts => ({
  ...{ operator: [], organization: { state: 'absent' }, records: [], readable, candidates: undefined },
  ...more,
})
const present = (repository: number): OrganizationFile => ({ state: 'present', fleets: [{ repository }] })

/** Every value that each fact can have, as far as the decision tells them apart. */
const OPERATOR: DesignationFacts['operator'][] = [
  [],
  [{ repository: FLEET }],
  [undefined],
  [{ repository: FLEET }, undefined],
]
const ORGANIZATION: OrganizationFile[] = [
  { state: 'absent' },
  { state: 'unreadable', why: '' },
  present(FLEET),
  present(TENANT),
  present(GONE),
]
const RECORDS: DesignationRecord[][] = [
  [],
  [record()],
  [record({ by: 'owner', generation: 2 }), record({ fleets: [{ repository: TENANT }] })],
  [record(), record({ at: TENANT, fleets: [{ repository: TENANT }] })],
  [record({ fleets: [{ repository: GONE }] })],
]
const CANDIDATES: (number[] | undefined)[] = [undefined, [], [FLEET], [TENANT], [FLEET, TENANT]]
const ALL = OPERATOR.flatMap(operator =>
  ORGANIZATION.flatMap(organization =>
    RECORDS.flatMap(records => CANDIDATES.map(candidates => facts({ operator, organization, records, candidates }))),
  ),
)

describe('in every revisionSet of facts', () => {
  test('the operator decides alone', () => {
    for (const one of ALL.filter(({ operator }) => operator.length > 0)) {
      const isWhole = one.operator.every(fleet => fleet !== undefined)
      const wanted = isWhole
        ? { state: 'designated', by: 'operator', fleets: [{ repository: FLEET }] }
        : { state: 'undecided', reason: 'unreachable' }
      expect(designate(one)).toMatchObject(wanted)
    }
  })

  test('a record stands, whatever the file and the repositories hold', () => {
    for (const one of ALL.filter(({ operator, records }) => operator.length === 0 && records.length > 0)) {
      const alone = designate(facts({ records: one.records }))
      const { pending, ...rest } = designate(one) as ReturnType<typeof designate> & { pending?: unknown }
      expect(rest).toEqual(alone)
      expect(pending === undefined || one.organization.state === 'present').toBe(true)
    }
  })

  test('what repositories hold designates nothing', () => {
    for (const one of ALL) {
      const { candidates: _, ...without } = one
      const answer = designate(one)
      if (answer.state === 'designated') expect(answer).toEqual(designate({ ...without, candidates: undefined }))
    }
  })

  test('nothing is designated that the App cannot read', () => {
    for (const one of ALL) {
      const answer = designate(one)
      if (answer.state === 'designated')
        for (const { repository } of answer.fleets) expect(readable).toContain(repository)
    }
  })
})

describe('without operator, file and record', () => {
  test.each<[string, number[], object]>([
    ['nothing looks like a fleet', [], { state: 'none' }],
    ['the only candidate is none yet', [FLEET], { state: 'undecided', reason: 'undesignated', candidates: [FLEET] }],
    ['nor is one of several', [FLEET, TENANT], { state: 'undecided', candidates: [FLEET, TENANT] }],
  ])('%s', (_, candidates, wanted) => {
    expect(designate(facts({ candidates }))).toMatchObject(wanted)
  })

  test('candidates are asked for only here', () => {
    expect(designate(facts())).toEqual({ state: 'needs-candidates' })
    expect(designate(facts({ organization: present(FLEET) }))).toMatchObject({ by: 'organization' })
    expect(designate(facts({ organization: { state: 'unreadable', why: '' } }))).toMatchObject({
      reason: 'unreadable-file',
    })
  })
})

describe('the file of the organization', () => {
  test('changes nothing until an owner confirms it', () => {
    const pinned = facts({ records: [record()], organization: present(TENANT) })
    expect(designate(pinned)).toEqual({
      ...{ state: 'designated', by: 'installation', fleets: [{ repository: FLEET }] },
      pending: [{ repository: TENANT }],
    })
    const confirmed = confirmDesignation(pinned, 7, TENANT) as DesignationRecord
    expect(confirmed).toMatchObject({ generation: 2, by: 'owner', fleets: [{ repository: TENANT }] })
    const records = [...pinned.records, { ...confirmed, at: TENANT }]
    expect(designate({ ...pinned, records })).toEqual({
      state: 'designated',
      by: 'owner',
      fleets: [{ repository: TENANT }],
    })
  })

  test('is not gone round by a word in a repository that it does not list', () => {
    expect(confirmDesignation(facts({ organization: present(FLEET) }), 7, TENANT)).toHaveProperty('why')
    expect(confirmDesignation(facts({ organization: { state: 'unreadable', why: '' } }), 7, FLEET)).toHaveProperty(
      'why',
    )
    expect(confirmDesignation(facts({ operator: [{ repository: FLEET }] }), 7, FLEET)).toHaveProperty('why')
    expect(confirmDesignation(facts(), 7, FLEET)).toMatchObject({ fleets: [{ repository: FLEET }], generation: 1 })
  })

  test('where it cannot be read the last designation stands', () => {
    const answer = designate(facts({ records: [record()], organization: { state: 'unreadable', why: '' } }))
    expect(answer).toEqual({ state: 'designated', by: 'installation', fleets: [{ repository: FLEET }] })
  })
})

describe('records', () => {
  test('the highest generation counts, wherever it is found; an older one that is put back changes nothing', () => {
    const [old, now] = [record(), record({ at: TENANT, generation: 2, by: 'owner', fleets: [{ repository: TENANT }] })]
    for (const records of [
      [old, now],
      [now, old],
    ]) {
      expect(designate(facts({ records }))).toMatchObject({ by: 'owner', fleets: [{ repository: TENANT }] })
    }
  })

  test('an earlier version found several candidates: its record decides nothing, and its generation counts', () => {
    const several = record({ state: 'several', fleets: [{ repository: FLEET }, { repository: TENANT }] })
    expect(designate(facts({ records: [several] }))).toEqual({ state: 'needs-candidates' })
    const named = facts({ records: [several], organization: present(TENANT) })
    expect(designate(named)).toMatchObject({ by: 'organization', fleets: [{ repository: TENANT }] })
    const sealed = record({ at: TENANT, by: 'organization', fleets: [{ repository: TENANT }] })
    expect(designate({ ...named, records: [several, sealed] })).toMatchObject({ fleets: [{ repository: TENANT }] })
    expect(confirmDesignation(facts({ records: [several] }), 7, FLEET)).toMatchObject({ generation: 2 })
  })

  test('two of one generation that differ decide nothing', () => {
    const records = [record(), record({ at: TENANT, fleets: [{ repository: TENANT }] })]
    expect(designate(facts({ records }))).toMatchObject({ state: 'undecided', reason: 'conflict' })
  })
})
