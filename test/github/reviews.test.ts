import { afterEach, beforeEach, expect, test } from 'vitest'
import { FLEET, NAME } from '../../tools/github/acme.ts'
import { hearing } from './hearing.ts'

let env: Awaited<ReturnType<typeof hearing>>
let pull: number
let head: string
beforeEach(async () => {
  env = await hearing()
  head = env.github.push({ repo: NAME, branch: 'topic', files: { 'a.txt': '1\n2\nx\n4\n5\n' }, as: 'dev' }).sha
  pull = env.github.openPullRequest({ repo: NAME, head: 'topic', as: 'dev' }).issue.number
  await env.hush()
})
afterEach(async () => {
  expect(await env.faults()).toEqual([])
  expect(env.github.responseViolations).toEqual([])
  expect(env.github.violations).toEqual([])
  await env.close()
})

const suggestion = { path: 'a.txt', line: 3, body: '```suggestion\n3\n```' }

test('a review is of one commit, and a later push leaves it there', async () => {
  env.github.review({ repo: NAME, pull, as: 'ada' })
  expect((await env.last('pull_request_review.submitted')).review).toMatchObject({
    ...{ state: 'approved', commit_id: head, user: { login: 'ada' } },
  })
  env.github.push({ repo: NAME, branch: 'topic', files: { y: '1' }, as: 'dev' })
  env.github.review({ repo: NAME, pull, as: 'eve', state: 'CHANGES_REQUESTED', body: 'no' })
  const { data } = await env.app.rest.pulls.listReviews({ ...FLEET, pull_number: pull })
  expect(data.map(each => [each.state, each.user?.login, each.commit_id === head])).toEqual([
    ['APPROVED', 'ada', true],
    ['CHANGES_REQUESTED', 'eve', false],
  ])
  expect(() => env.github.review({ repo: NAME, pull, as: 'dev' })).toThrow(/Unprocessable/)
})

test('a review is dismissed by who may, once', async () => {
  const { id: review } = env.github.review({ repo: NAME, pull, as: 'ada' })
  expect(() => env.github.dismissReview({ repo: NAME, pull, review, as: 'eve' })).toThrow(/write/)
  env.github.dismissReview({ repo: NAME, pull, review, as: 'dev' })
  expect((await env.last('pull_request_review.dismissed')).review.state).toBe('dismissed')
  expect(() => env.github.dismissReview({ repo: NAME, pull, review, as: 'dev' })).toThrow(/Validation/)
  const { data } = await env.app.rest.pulls.listReviews({ ...FLEET, pull_number: pull })
  expect(data[0]!.state).toBe('DISMISSED')
})

test('one review with suggestions; a line that the diff does not show is refused', async () => {
  const { pulls } = env.app.rest
  const at = { ...FLEET, pull_number: pull }
  const { data } = await pulls.createReview({ ...at, event: 'COMMENT', body: 'Fixes', comments: [suggestion] })
  expect(data).toMatchObject({ state: 'COMMENTED', user: { login: 'bailiwick[bot]' }, commit_id: head })
  expect(await env.names()).toEqual(['pull_request_review.submitted', 'pull_request_review_comment.created'])
  const { data: comments } = await pulls.listReviewComments(at)
  expect(comments).toMatchObject([{ line: 3, path: 'a.txt', position: 4, original_commit_id: head, side: 'RIGHT' }])
  expect(comments[0]!.diff_hunk).toMatch(/^@@ -1,5 \+1,5 @@\n/)
  expect((await pulls.listCommentsForReview({ ...at, review_id: data.id })).data).toHaveLength(1)
  const refused = (comment: object) =>
    pulls.createReview({ ...at, event: 'COMMENT', body: 'x', comments: [{ ...suggestion, ...comment }] })
  await expect(refused({ line: 40 })).rejects.toMatchObject({ status: 422 })
  await expect(refused({ path: 'b.txt' })).rejects.toThrow(/Path could not be resolved/)
  await expect(refused({ start_line: 3 })).rejects.toMatchObject({ status: 422 })
  expect((await refused({ start_line: 2 })).data.state).toBe('COMMENTED')
})

test('a comment follows its line, and is outdated when the line goes', async () => {
  const { pulls } = env.app.rest
  const at = { ...FLEET, pull_number: pull }
  const first = env.github.review({ repo: NAME, pull, as: 'ada', state: 'COMMENTED', comments: [suggestion] })
  const { id } = first.comments[0]!
  env.github.replyToReview({ repo: NAME, pull, comment: id, body: 'why?', as: 'dev' })
  env.github.resolveThread({ repo: NAME, pull, comment: id, as: 'dev' })
  expect((await env.last('pull_request_review_thread.resolved')).thread.comments).toHaveLength(2)
  env.github.push({ repo: NAME, branch: 'topic', files: { 'a.txt': '0\n1\n2\nx\n4\n5\n' }, as: 'dev' })
  const moved = (await pulls.listReviewComments(at)).data
  expect(moved.map(each => [each.line, each.original_line, each.in_reply_to_id])).toEqual([
    [4, 3, undefined],
    [4, 3, id],
  ])
  env.github.push({ repo: NAME, branch: 'topic', files: { 'a.txt': '1\n2\ny\n4\n5\n' }, as: 'dev' })
  expect((await pulls.listReviewComments(at)).data[0]).toMatchObject({ line: null, position: null, commit_id: head })
  await env.as('ada').rest.pulls.createReplyForReviewComment({ ...at, comment_id: id, body: 'done' })
  await pulls.createReviewComment({ ...at, ...suggestion, commit_id: env.github.commitOf(NAME, 'topic') })
  const bad = { ...at, ...suggestion, line: 99, commit_id: env.github.commitOf(NAME, 'topic') }
  await expect(pulls.createReviewComment(bad)).rejects.toThrow(/must be part of the diff/)
})

test('a pending review is its author’s alone until it is submitted', async () => {
  const mine = env.as('ada').rest.pulls
  const at = { ...FLEET, pull_number: pull }
  const { data } = await mine.createReview({ ...at, comments: [suggestion] })
  expect(data.state).toBe('PENDING')
  expect((await env.app.rest.pulls.listReviews(at)).data).toEqual([])
  expect((await mine.listReviews(at)).data).toHaveLength(1)
  expect(await env.names()).toEqual([])
  await mine.submitReview({ ...at, review_id: data.id, event: 'REQUEST_CHANGES', body: 'see there' })
  expect(await env.names()).toEqual(['pull_request_review.submitted', 'pull_request_review_comment.created'])
  await expect(mine.deletePendingReview({ ...at, review_id: data.id })).rejects.toMatchObject({ status: 422 })
})
