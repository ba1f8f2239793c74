import { generateIdentity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AUTH, FLEET, ONBOARD, openSealedFleet } from '../story/sealed-fleet.ts'
import type { Stage } from '../story/stage.ts'
import { command } from './commands.ts'

const TITLE = 'Bailiwick: encrypted files have other recipients than .sops.yaml names'
const CONFIG = '.sops.yaml'
const MORE = 'tenants/base/ops-team/more.yaml'

let stage: Stage
let own = ''
beforeAll(async () => {
  const opened = await openSealedFleet({ retry: { attempts: 3, backoffMs: 10 } })
  stage = opened.stage
  own = stage.github.readFile(FLEET, 'main', CONFIG)
  await command(stage, { repo: FLEET, issue: opened.issue, as: 'ada', body: ONBOARD })
  const pull = stage.github.pullRequestsOf(FLEET).at(-1)!.issue.number
  stage.github.merge({ repo: FLEET, pull, as: 'ada' })
  await stage.settle()
})
afterAll(() => stage?.close())
// what an earlier attempt of a test left
beforeEach(async () => {
  if (open().length > 0) await push({ [CONFIG]: own, [MORE]: stage.github.readFile(FLEET, 'main', AUTH) })
})

const issues = () => [...stage.github.repositoryNamed(FLEET).issues.values()].filter(({ title }) => title === TITLE)
const open = () => issues().filter(({ state }) => state === 'open')
async function push(files: Record<string, string>): Promise<void> {
  stage.github.push({ repo: FLEET, files, as: 'ada' })
  await stage.settle()
}
const newcomer = async () => identityToRecipient(await generateIdentity())
const forOthers = (recipient: string) => own.replace(/age1\w+/, recipient)
const writes = () =>
  stage.github.requests.filter(({ method, path }) => method !== 'GET' && /\/issues(\/\d+)?$/.test(path))

/** GitHub fails at the next such request; answers whether there was one. */
function failOnce(method: string, path: RegExp): () => boolean {
  let hit = false
  stage.github.failNext(1, 502, {}, request => {
    const now = request.method === method && path.test(request.path)
    hit ||= now
    return now
  })
  return () => hit
}

describe('a change of .sops.yaml on the branch of a fleet', () => {
  test('that leaves the recipients as they are opens no issue; nor does an encrypted file with these recipients', async () => {
    const before = issues().length
    await push({ [CONFIG]: `# ${await newcomer()}\n${own}` })
    await push({ [CONFIG]: own, [AUTH]: `${stage.github.readFile(FLEET, 'main', AUTH)}\n` })
    expect([issues().length, open()]).toEqual([before, []])
  })

  test('opens one issue with files and commands, which is closed when the files fit again', async () => {
    const recipient = await newcomer()
    const wasHit = issues().length === 0 ? failOnce('POST', /\/issues$/) : failOnce('PATCH', /\/issues\/\d+$/)
    await push({ [CONFIG]: forOthers(recipient) })
    expect([open().length, wasHit()]).toEqual([1, true])
    const { number, body } = open()[0]!
    expect(body).toContain(`\`${AUTH}:1\``)
    expect(body).toContain(`${recipient} cannot open it, and .sops.yaml names them`)
    expect(body).toContain('\nbailiwick sops updatekeys\n')
    expect(body).toContain(`\nsops updatekeys --yes ${AUTH}\n`)
    stage.github.forget()
    await push({ 'README.md': `# ${recipient}\n` })
    await push({ [CONFIG]: `# again\n${forOthers(recipient)}` })
    expect([open().length, writes()]).toEqual([1, []])
    await push({ [CONFIG]: own })
    expect([open(), issues().find(one => one.number === number)?.state]).toEqual([[], 'closed'])
    const count = issues().length
    await push({ [CONFIG]: forOthers(await newcomer()) })
    expect([open().map(one => one.number), issues().length]).toEqual([[number], count])
    await push({ [CONFIG]: own })
  })

  test('files that another push encrypts for others count too, and removing them closes the issue', async () => {
    const sealed = stage.github.readFile(FLEET, 'main', AUTH)
    await push({ [MORE]: sealed.replace(/recipient: age1\w+/, `recipient: ${await newcomer()}`) })
    expect(open().map(({ body }) => body?.includes(`\`${MORE}:1\``))).toEqual([true])
    await push({ [MORE]: sealed })
    expect(open()).toEqual([])
  })

  test.each([
    ['the issues are listed', 'GET', /\/issues$/],
    ['the issue is changed', 'PATCH', /\/issues\/\d+$/],
  ])('an outage when %s: one issue in the end', async (_name, method, path) => {
    const wasHit = failOnce(method, path)
    await push({ [CONFIG]: forOthers(await newcomer()) })
    expect([open().length, issues().length, wasHit()]).toEqual([1, 1, true])
    await push({ [CONFIG]: own })
    expect(open()).toEqual([])
  })

  test("someone else's issue with its first line is left alone", async () => {
    const body = '<!-- bailiwick:recipients -->\n\nmine'
    const forged = stage.github.issue({ repo: FLEET, title: 'forged', body, as: 'otto' })
    await stage.settle()
    await push({ [CONFIG]: forOthers(await newcomer()) })
    expect([open().length, forged.body]).toEqual([1, body])
    await push({ [CONFIG]: own })
    expect([open(), forged.state]).toEqual([[], 'open'])
  })

  test('every request was one that GitHub describes', () => {
    expect([stage.github.violations, stage.github.unknown]).toEqual([[], []])
  })
})
