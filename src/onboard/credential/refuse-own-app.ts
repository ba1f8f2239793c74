import { BailiwickError } from '../../errors.ts'
import type { OnboardRequest } from '../request.ts'

/** Refuses (`onboard-input`) Bailiwick's own App as the credential of a source: its key reads and writes every repository. */
export function refuseOwnApp({ appId }: OnboardRequest, own: number | undefined): void {
  if (appId === undefined || own === undefined || appId !== String(own)) return
  throw new BailiwickError(
    'onboard-input',
    `--app-id ${appId}: this is Bailiwick itself, and its private key must never be in a cluster`,
    { fix: 'Register another GitHub App with `Contents: read` alone, and install it on this repository.' },
  )
}
