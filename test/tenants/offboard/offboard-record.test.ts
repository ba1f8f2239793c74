import { expect, test } from 'vitest'
import { type OffboardRecord, offboardMarker, readOffboardMarker } from '../../../src/tenants/offboard/request.ts'

const record: OffboardRecord = {
  ...{ fleet: 1, tenant: 'dev-team', clusters: [], stage: 'rest', on: ['staging'], sources: [] },
  ...{ by: 'ada', comment: 2, issue: 3, at: '2026-01-01T00:00:00Z' },
}

test('a record is read where the App sealed it', () => {
  expect(readOffboardMarker(offboardMarker(record, 'key'), 'key')).toEqual(record)
  expect(readOffboardMarker(offboardMarker(record, 'other'), 'key')).toBeUndefined()
})

test.each([{ to: 'production' }, { name: 'web' }, { namespace: 'apps' }])(
  'a sealed record of an earlier release that is not one of an offboarding is none: %j',
  more => {
    expect(readOffboardMarker(offboardMarker({ ...record, ...more }, 'key'), 'key')).toBeUndefined()
  },
)
