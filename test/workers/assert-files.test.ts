import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parseClusters } from '../../src/cluster/clusters-file.ts'
import { assertFiles } from '../../workers/apply/run-in-cluster.ts'

const directory = mkdtempSync(join(tmpdir(), 'bailiwick-files-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const file = join(directory, 'clusters.yaml')

const bindingOf = (ca: string, credentials: string) =>
  parseClusters(
    `clusters:
  - name: staging
    fleet: https://github.com/acme/fleet
    mode: reconcile
    kubeConfigs: [{server: 'https://edge:6443', cluster: 'staging -> kubeconfig flux-system/edge', ca: ${ca}}]
    kmsKeys:
      - provider: aws
        key: arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab
        namespaces: [apps]
        credentialsFile: ${credentials}
`,
    file,
  )[0]!

test('each file of a cluster is there when its worker starts', () => {
  writeFileSync(join(directory, 'there'), 'x')
  expect(() => assertFiles(bindingOf('there', 'there'), file)).not.toThrow()
  expect(() => assertFiles(bindingOf('gone.crt', 'there'), file)).toThrow(
    `kubeConfigs[0].ca of staging names ${directory}/gone.crt, which cannot be read`,
  )
  expect(() => assertFiles(bindingOf('there', 'gone.ini'), file)).toThrow(
    `kmsKeys[0] of staging names ${directory}/gone.ini, which cannot be read`,
  )
})
