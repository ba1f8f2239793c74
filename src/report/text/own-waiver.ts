import type { GrantedWaiver } from '../../rules/model/finding.ts'

/** A waiver in words that name nothing of others. Who and why are values: each is hidden as it stands in quotes. */
export function ownWaiver({ expires, approver, reason }: GrantedWaiver, hide: (text: string) => string): GrantedWaiver {
  const quoted = (value: string) => hide(`"${value}"`).slice(1, -1)
  return { expires, approver: quoted(approver), reason: quoted(reason) }
}
