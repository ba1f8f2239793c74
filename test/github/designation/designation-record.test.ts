import { expect, test } from 'vitest'
import {
  type DesignationRecord,
  designationMarker,
  readDesignationMarker,
  withDesignationMarker,
} from '../../../src/github/designate.ts'

const KEY = '-----BEGIN PRIVATE KEY-----\nof the App\n-----END PRIVATE KEY-----\n'
const record: DesignationRecord = {
  ...{ installation: 7, at: 1, generation: 3, state: 'designated', by: 'owner' },
  fleets: [{ repository: 1 }, { repository: 2, branch: 'production' }],
}
const marker = designationMarker(record, KEY)

test('a record is read as it was written, from a report with lines of either kind', () => {
  expect(readDesignationMarker(`first\n${marker}\n\nrest`, KEY)).toEqual(record)
  expect(readDesignationMarker(`first\r\n${marker}\r\n\r\nrest`, KEY)).toEqual(record)
  expect(marker).toMatch(/^<!-- bailiwick:designation [\w.-]+ -->$/)
})

test('whatever the key did not seal is no record', () => {
  const [, data = '', mac = ''] = /designation ([\w-]+)\.([\w-]+)/.exec(marker) ?? []
  const other = Buffer.from(JSON.stringify({ ...record, fleets: [{ repository: 666 }] })).toString('base64url')
  const lines = [
    marker.replace(data, other),
    marker.replace(mac, Buffer.alloc(32).toString('base64url')),
    marker.replace(`.${mac}`, ''),
    marker.replace(mac, mac.slice(0, 20)),
    `text before ${marker}`,
    marker.replace('designation', 'Designation'),
    designationMarker(record, 'another key'),
    '',
  ]
  for (const line of lines) expect(readDesignationMarker(line, KEY), line).toBeUndefined()
})

test('no name of a branch ends the comment that hides it', () => {
  const wild = { ...record, fleets: [{ repository: 1, branch: '--><b>' }] }
  const line = designationMarker(wild, KEY)
  expect(line.indexOf('-->')).toBe(line.length - 3)
  expect(readDesignationMarker(line, KEY)).toEqual(wild)
})

test('a report keeps one marker, as its second line', () => {
  const before = `<!-- report -->\n${designationMarker({ ...record, generation: 1 }, KEY)}\n\ntext`
  expect(withDesignationMarker(before, marker)).toBe(`<!-- report -->\n${marker}\n\ntext`)
  expect(withDesignationMarker('<!-- report -->\n\ntext', marker)).toBe(`<!-- report -->\n${marker}\n\ntext`)
})
