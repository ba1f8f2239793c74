import { expect, test, vi } from 'vitest'
import { kindEntry, NEWEST, objectType, VERSIONS } from '../../src/schema/types-table.ts'
import { unpack } from '../../src/schema/unpack.ts'

vi.mock('../../src/schema/unpack.ts', { spy: true })

test('a start reads no table: the first question does, once', () => {
  expect([VERSIONS.at(-1), vi.mocked(unpack).mock.calls]).toEqual([NEWEST, []])
  expect(kindEntry('v1', 'Pod')?.type).toEqual({ is: 'object', type: 'core.v1.Pod' })
  expect(objectType('core.v1.PodSpec')?.required).toEqual(['containers'])
  expect(unpack).toHaveBeenCalledOnce()
})
