import { badVariable, type Environment, optional, required } from './environment.ts'

/** The secrets with which GitHub signs deliveries. */
export interface WebhookSecrets {
  /** Secret. */
  readonly webhookSecret: string
  /** The one before, while it is being changed: GitHub may sign with either. Secret. */
  readonly webhookSecretPrevious: string | undefined
}

const FIX = 'generate one with `openssl rand -hex 32`, and set it here and on the settings page of the GitHub App'

/** Reads the webhook secrets. Throws `config` if one is missing or too easy to guess. */
export function readWebhookSecrets(env: Environment): WebhookSecrets {
  const previous = optional(env, 'WEBHOOK_SECRET_PREVIOUS')
  return {
    webhookSecret: sound('WEBHOOK_SECRET', required(env, 'WEBHOOK_SECRET', FIX)),
    webhookSecretPrevious: previous === undefined ? undefined : sound('WEBHOOK_SECRET_PREVIOUS', previous),
  }
}

function sound(name: string, secret: string): string {
  if (secret === 'development') throw badVariable(name, 'is a well-known default', FIX)
  if (secret.length < 16) throw badVariable(name, 'is shorter than 16 characters', FIX)
  return secret
}
