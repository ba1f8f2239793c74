import { describe, expect, test } from 'vitest'
import { type CheckRun, publishCheckRun } from '../../../src/github/checks.ts'
import type { Annotation } from '../../../src/report/check-run-text.ts'
import { type Answer, rawGitHub } from './raw-github.ts'

const APP = { id: 7, slug: 'bailiwick' }
const FLEET = { owner: 'acme', repo: 'fleet' }
const SHA = 'a'.repeat(40)

const annotations = (count: number): Annotation[] =>
  Array.from({ length: count }, (_, n) => ({
    path: 'a.yaml',
    line: n + 1,
    level: 'failure',
    title: `t${n}`,
    message: `m${n}`,
  }))

const run = (over: Partial<CheckRun> = {}): CheckRun => ({
  headSha: SHA,
  name: 'bailiwick / tenancy',
  externalId: 'revisionSet-1',
  conclusion: 'failure',
  title: 'Two violations',
  summary: 'what',
  annotations: [],
  ...over,
})

interface Stored {
  id: number
  name: string
  head_sha: string
  app: { id: number }
  status: string
  conclusion: string | null
  external_id: string
  output: { title: string; summary: string; text?: string }
  annotations: unknown[]
}

/** Keeps check runs as GitHub does: annotations of an update are appended, at most 50 per request. */
async function checksHost(stored: Stored[] = [], fail: (writes: number) => boolean = () => false) {
  let writes = 0
  const host = await rawGitHub((method, path, _, body): Answer | undefined => {
    if (method === 'GET') return { body: { total_count: stored.length, check_runs: stored } }
    if (fail(++writes)) return { status: 500, body: {} }
    const { output, ...given } = JSON.parse(body)
    if (output.annotations.length > 50) return { status: 422, body: { message: 'too many annotations' } }
    let one = stored.find(other => path.endsWith(`/check-runs/${other.id}`))
    if (!one) {
      one = { id: 100 + stored.length, app: APP, status: 'queued', conclusion: null, annotations: [], ...given, output }
      stored.push(one!)
    } else Object.assign(one, given)
    one!.annotations.push(...output.annotations)
    delete output.annotations
    one!.output = output
    return { status: 201, body: one }
  })
  return { ...host, fleet: { ...FLEET, octokit: host.octokit, app: APP }, stored, writes: () => writes }
}

describe('publishCheckRun', () => {
  test('writes once; the same again costs one read', async () => {
    const host = await checksHost()
    expect(await publishCheckRun(host.fleet, run({ annotations: annotations(3) }))).toEqual({
      id: 100,
      written: true,
    })
    expect(await publishCheckRun(host.fleet, run({ annotations: annotations(3) }))).toEqual({
      id: 100,
      written: false,
    })
    expect(host.requests.map(request => request.split(' ')[0])).toEqual(['GET', 'POST', 'GET'])
    expect(host.stored[0]).toMatchObject({ status: 'completed', conclusion: 'failure' })
    expect(host.stored[0]!.annotations).toHaveLength(3)
  })

  test('another revision set or conclusion is a new run, never a patch of the old one', async () => {
    const host = await checksHost()
    await publishCheckRun(host.fleet, run({ annotations: annotations(2) }))
    await publishCheckRun(host.fleet, run({ externalId: 'revisionSet-2' }))
    await publishCheckRun(host.fleet, run({ externalId: 'revisionSet-2', conclusion: 'success' }))
    expect(host.stored.map(one => one.annotations.length)).toEqual([2, 0, 0])
    // back to the first: what counts is the latest run, not any
    expect(await publishCheckRun(host.fleet, run())).toMatchObject({ written: true })
  })

  test('a run of the same name by another app, even a successful one, is not ours', async () => {
    const forged = {
      id: 900,
      name: run().name,
      head_sha: SHA,
      app: { id: 8 },
      status: 'completed',
      conclusion: 'failure',
    }
    const host = await checksHost([
      { ...forged, external_id: 'revisionSet-1', output: { title: '', summary: '' }, annotations: [] },
    ])
    expect(await publishCheckRun(host.fleet, run())).toMatchObject({ written: true })
    expect(host.stored).toHaveLength(2)
  })

  test.each([
    [50, 1],
    [51, 2],
    [101, 3],
  ])('%i annotations take %i writes, none is lost', async (count, writes) => {
    const host = await checksHost()
    await publishCheckRun(host.fleet, run({ annotations: annotations(count) }))
    expect(host.writes()).toBe(writes)
    expect(host.stored[0]!.annotations).toHaveLength(count)
    expect(host.stored[0]).toMatchObject({ status: 'completed', conclusion: 'failure' })
  })

  test.each([2, 3])('a crash before part %i leaves a run that blocks, and the next attempt a whole one', async part => {
    const host = await checksHost([], writes => writes === part)
    const success = run({
      conclusion: 'success',
      annotations: annotations(120).map(one => ({ ...one, level: 'warning' })),
    })
    await expect(publishCheckRun(host.fleet, success)).rejects.toMatchObject({ code: 'github-unavailable' })
    expect(host.stored).toMatchObject([{ status: 'in_progress', conclusion: null }])
    expect(await publishCheckRun(host.fleet, success)).toMatchObject({ id: 101, written: true })
    expect(host.stored[1]).toMatchObject({ status: 'completed', conclusion: 'success' })
    expect(host.stored[1]!.annotations).toHaveLength(120)
  })

  test('keeps every text within the limits and says that it was cut', async () => {
    const host = await checksHost()
    const long = 'ü'.repeat(70_000)
    const many = annotations(300).map(one => ({ ...one, title: long, message: long }))
    await publishCheckRun(host.fleet, run({ title: long, summary: long, text: long, annotations: many }))
    const { output, annotations: shown } = host.stored[0]!
    expect(Buffer.byteLength(output.title)).toBeLessThanOrEqual(255)
    expect(Buffer.byteLength(output.summary)).toBeLessThanOrEqual(65_535)
    expect(Buffer.byteLength(output.text!)).toBeLessThanOrEqual(65_535)
    expect(output.summary).toContain('Truncated')
    expect(output.summary).toMatch(/50 more annotations are not shown/)
    expect(shown).toHaveLength(250)
    for (const one of shown as { title: string; message: string }[]) {
      expect(Buffer.byteLength(one.title)).toBeLessThanOrEqual(255)
      expect(Buffer.byteLength(one.message)).toBeLessThanOrEqual(64 * 1024)
    }
  })
})
