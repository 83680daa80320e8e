/**
 * What the runner tells about the event that started the workflow.
 *
 * @module
 */

/** The event, as far as it matters here. */
export interface WorkflowEvent {
  readonly pullRequest: boolean;
  /** The pull request comes from another repository; GitHub then gives the run no secrets. */
  readonly fromFork: boolean;
}

/**
 * Reads the event.
 * @param name `GITHUB_EVENT_NAME`
 * @param payload the text of the file at `GITHUB_EVENT_PATH`; anything but an event tells nothing
 */
export function readEvent(name: string | undefined, payload: string): WorkflowEvent {
  const pullRequest = name === "pull_request" || name === "pull_request_target";
  if (!pullRequest) return { pullRequest, fromFork: false };
  try {
    const event: PullRequestPayload = JSON.parse(payload);
    const head = event.pull_request?.head?.repo?.full_name;
    const base = event.pull_request?.base?.repo?.full_name;
    // The head's repository is null once the fork has been deleted.
    return { pullRequest, fromFork: base !== undefined && head !== base };
  } catch {
    return { pullRequest, fromFork: false };
  }
}

interface Side {
  readonly repo?: { readonly full_name?: string } | null;
}

interface PullRequestPayload {
  readonly pull_request?: { readonly head?: Side; readonly base?: Side };
}
