import type { Heard } from './heard.ts'

const BRANCH = 'refs/heads/'

/** A branch that moved is judged, whichever it is: some source may follow it. Tags and deletions are not. */
export const push: Heard<'push'> = {
  event: 'push',
  jobs: (payload, place) => {
    if (!payload.ref.startsWith(BRANCH) || payload.deleted || /^0+$/.test(payload.after)) return []
    return [{ name: 'validate-push', data: { ...place, branch: payload.ref.slice(BRANCH.length), sha: payload.after } }]
  },
}
