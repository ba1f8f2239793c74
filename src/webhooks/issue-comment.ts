import type { EventJobs, Payload } from './event-jobs.ts'

/**
 * `/bailiwick ...` on the first line of a new comment by a person. Not edited comments, not quoted replies, not bots
 * (ours included). What it says and whether the person may is the worker's question, which GitHub answers.
 */
export const issueComment: EventJobs<'issue_comment'> = {
  event: 'issue_comment',
  jobs: (payload, place) => {
    if (payload.action !== 'created' || isFromBot(payload) || !isCommand(payload.comment.body)) return []
    return [{ name: 'command', data: { ...place, issue: payload.issue.number, comment: payload.comment.id } }]
  },
}

function isFromBot({ comment, sender }: Payload<'issue_comment'>): boolean {
  return sender.type !== 'User' || comment.user?.type !== 'User' || Boolean(comment.performed_via_github_app)
}

function isCommand(body: string): boolean {
  return /^\/bailiwick(?:[ \t\r\n]|$)/.test(body)
}
