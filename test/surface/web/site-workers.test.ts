import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Config } from '../../../src/config.ts'
import { openSiteWorkers } from '../../../src/start-site.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'

const directory = mkdtempSync(join(tmpdir(), 'bailiwick-site-'))
afterAll(() => rmSync(directory, { recursive: true }))

const open = (key: string) => {
  const clustersFile = join(directory, 'clusters.yaml')
  writeFileSync(
    clustersFile,
    `clusters: [{name: a, fleet: 'https://github.com/acme/fleet', branch: main, mode: reconcile, workerKey: ${key}}]`,
  )
  const config = { clustersFile, githubApiUrl: 'https://127.0.0.1:1' } as Config
  return () => openSiteWorkers(config, { queue: {} as never, store: {} as never, log: silentLog })
}

test('a key file of a cluster that cannot be read ends the start, with its path', () => {
  const missing = join(directory, 'missing.key')
  expect(open(missing)).toThrow(`${missing}, a workerKey of clusters.yaml, cannot be read`)
  const empty = join(directory, 'empty.key')
  writeFileSync(empty, '\n')
  expect(open(empty)).toThrow(`${empty}, a workerKey of clusters.yaml, has to contain a key`)
})
