import { type MessagePart, part } from '../../message/message.ts'

/** A repository of GitHub in a message, or an issue or pull request of it. */
export function repositoryPart(
  { owner, repo }: { readonly owner: string; readonly repo: string },
  number?: number,
): MessagePart {
  const name = `${owner}/${repo}`
  return part('repository', name, number === undefined ? name : `${name}#${number}`)
}
