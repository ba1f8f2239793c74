import type { Visibility } from '../../fleet/model/visibility.ts'

/** Who can see a repository. Public is only what GitHub says is: `private` counts where an older server gives no `visibility`. */
export function visibilityOf(answer: {
  readonly private?: boolean | undefined
  readonly visibility?: string | undefined
}): Visibility {
  if (answer.visibility === 'internal') return 'internal'
  return answer.private === false && (answer.visibility ?? 'public') === 'public' ? 'public' : 'private'
}
