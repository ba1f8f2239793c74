import { identityToRecipient } from 'age-encryption'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import type { FakeGitHub } from '../../../tools/github/start.ts'
import { openDocument } from '../../flux/sops/open-document.ts'
import { FLEET, openSealedFleet, TEAM } from '../story/sealed-fleet.ts'
import type { Stage } from '../story/stage.ts'
import { command, lastRun } from './commands.ts'

const FOLDER = 'tenants/base/ops-team'
const BRANCH = 'bailiwick/onboard-ops-team'
const LINE =
  '/bailiwick onboard ops-team --repo https://github.com/acme/ops-team --namespace ops --cluster staging --role edit'

let stage: Stage
let identity = ''
let issue = 0

beforeEach(async () => {
  const prepare = (github: FakeGitHub) =>
    github.push({ repo: FLEET, files: { '.github/CODEOWNERS': '/tenants/ @acme/platform\n' }, as: 'ada' })
  ;({ stage, identity, issue } = await openSealedFleet({ logLevel: 'warn', prepare }))
})
afterEach(() => stage?.close())

const onboard = (options: string) => command(stage, { repo: FLEET, issue, as: 'ada', body: `${LINE} ${options}` })
const pulls = () => stage.github.pullRequestsOf(FLEET).filter(one => one.head.ref === BRANCH)
const keys = () => stage.github.repositoryNamed(TEAM).deployKeys
const file = (path: string) =>
  stage.github.filesOf(FLEET, BRANCH).includes(path) ? stage.github.readFile(FLEET, BRANCH, path) : undefined

async function opened(name: string): Promise<Record<string, string>> {
  const [root] = parseDocuments({ repository: '', path: name }, Buffer.from(file(`${FOLDER}/${name}`)!))
  if (root?.type !== 'map') throw new Error('no map')
  const plain = await openDocument(root, { age: [identity] })
  return plain.stringData as Record<string, string>
}

describe('a key with which the cluster decrypts what a tenant encrypts', () => {
  test('is sealed for the cluster, named by the Kustomization, and its recipient is in the text', async () => {
    expect(await onboard('--decryption sops --access deploy-key')).toEqual({ reactions: ['rocket'], replies: [] })
    const key = (await opened('sops-age.yaml'))['age.agekey']!
    const own = /AGE-SECRET-KEY-1\S+/.exec(key)![0]
    expect(pulls()[0]!.issue.body).toContain(`    age: ${await identityToRecipient(own)}\n`)
    expect(file(`${FOLDER}/sync.yaml`)).toContain('    secretRef:\n      name: ops-team-sops\n')
    expect(keys().map(one => one.key)).toEqual([(await opened('auth.yaml'))['identity.pub']!.trim()])
    expect(lastRun(stage.github, FLEET, BRANCH)).toMatchObject({ conclusion: 'success' })
    const written = stage.github.requests.map(request => JSON.stringify(request)).join('\n')
    expect([written.includes(own.slice(20)), written.includes(await identityToRecipient(own))]).toEqual([false, true])
  })

  test('asked for again: the same key and the same pull request', async () => {
    await onboard('--decryption sops')
    const before = file(`${FOLDER}/sops-age.yaml`)
    await onboard('--decryption sops')
    expect(file(`${FOLDER}/sops-age.yaml`)).toBe(before)
    expect(pulls()).toHaveLength(1)
  })

  test('a sealed file that another person put on the branch is not taken for ours', async () => {
    await onboard('--decryption sops')
    const forged = file(`${FOLDER}/sops-age.yaml`)!.replace(/enc: \|/g, 'enc: |-')
    stage.github.push({ repo: FLEET, branch: BRANCH, files: { [`${FOLDER}/sops-age.yaml`]: forged }, as: 'ada' })
    const { replies } = await onboard('--decryption sops')
    expect(replies.join()).toContain('has a commit of someone else')
  })

  test('the preview names accounts, verbs, source and owners', async () => {
    await onboard('--access token')
    for (const words of [
      '| Accounts | `ops/ops-team` |',
      '| Verbs | `edit`: read and write workloads',
      '| Source | `https://github.com/acme/ops-team`, branch `main`, read with the Secret `ops-team-auth` (token) |',
      '- Code owners: `@acme/platform`.',
    ]) {
      expect(pulls()[0]!.issue.body).toContain(words)
    }
  })

  test('the App itself as the credential is refused', async () => {
    const own = stage.github.app.id
    const { reactions, replies } = await onboard(`--access github-app --app-id ${own} --app-installation-id 1`)
    expect([reactions, pulls()]).toEqual([['confused'], []])
    expect(replies.join()).toContain('this is Bailiwick itself')
    expect((await onboard(`--access github-app --app-id ${own + 1} --app-installation-id 1`)).replies).toEqual([])
    expect(pulls()[0]!.issue.body).toContain(`--app-id=${own + 1} --app-installation-id=1`)
  })
})

describe('the process ends at a step', () => {
  test.each([
    ['the key is made', 'POST', /\/git\/trees$/],
    ['the sealed file is committed', 'POST', /\/git\/commits$/],
    ['the branch is made', 'POST', /\/git\/refs$/],
    ['the pull request is opened', 'POST', /\/pulls$/],
    ['the keys of the repository are read', 'GET', /\/keys$/],
    ['the key is registered', 'POST', /\/keys$/],
  ])('%s: the command again ends with one key and one pull request', async (_name, method, path) => {
    const { github } = stage
    let reached = false
    const release = github.hold(request => {
      const isStep = request.method === method && path.test(request.path)
      reached ||= isStep
      return isStep
    })
    github.comment({ repo: FLEET, issue, body: `${LINE} --access deploy-key --decryption sops`, as: 'ada' })
    await expect.poll(() => reached, { timeout: 20_000 }).toBe(true)
    await stage.restart()
    release()
    await stage.settle()
    // whatever is registered has a pull request that takes it back when it is closed
    expect(keys().length).toBeLessThanOrEqual(pulls().length)
    await onboard('--access deploy-key --decryption sops')
    const open = pulls().filter(one => one.issue.state === 'open')
    expect([open.length, pulls().length]).toEqual([1, 1])
    expect(keys().map(one => one.key)).toEqual([(await opened('auth.yaml'))['identity.pub']!.trim()])
    github.closePullRequest({ repo: FLEET, pull: open[0]!.issue.number, as: 'ada' })
    await stage.settle()
    expect(keys()).toEqual([])
  })
})
