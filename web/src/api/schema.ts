// Made from openapi.json by `npm run types`; do not edit.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An agent that can be run. */
        AgentView: {
            /** @description What it is. */
            about: string;
            /** @description How it learns to ask: `none`, `argument` or `prompt`. */
            guide: string;
            /** @description How it is spoken to while it runs: `line`, `message` or `relaunch`. */
            input: string;
            /** @description Whether the server finds its program; null if its table does not say which that is. */
            installed?: boolean | null;
            /** @description Its name. */
            name: string;
            /** @description Whether a conversation can be taken up again. */
            resumable: boolean;
            /** @description Where its table comes from: `built in`, or a file. */
            source: string;
            /** @description The table. */
            table: Record<string, unknown>;
            /** @description The version that was tested. */
            tested?: string | null;
        };
        /** @description What an agent says of a phase that it has done. */
        AnnouncedView: {
            /** @description The documents. */
            documents: string[];
            /** @description Its name. */
            name?: string | null;
            /**
             * Format: int32
             * @description The number of the phase.
             */
            phase: number;
        };
        /** @description What a person has approved. */
        ApprovedView: {
            /**
             * Format: int64
             * @description When.
             */
            at_ms: number;
            /** @description The commit that has it. */
            commit: string;
            /**
             * Format: int32
             * @description The gate.
             */
            gate: number;
            /** @description Whether the gate had failed. */
            insisted: boolean;
            /** @description The request by which it was asked for. */
            request?: string | null;
            /** @description Exactly this tree. */
            tree: string;
        };
        /** @description Files that a phase has to produce. */
        ArtifactView: {
            /** @description Which. */
            glob: string;
            /**
             * Format: int32
             * @description How many at most.
             */
            max?: number | null;
            /**
             * Format: int32
             * @description How many at least.
             */
            min: number;
            /** @description What each has to have a section about. */
            sections: string[];
        };
        /** @description What is asked, in a form that can be shown without knowing every kind. */
        AskView: {
            call?: components["schemas"]["ToolCallView"] | null;
            /** @description More about it. */
            context?: string | null;
            /** @description What stands for an answer when there is none. */
            default?: string | null;
            /** @description All fields, as the agent gave them. */
            fields: Record<string, unknown>;
            form?: components["schemas"]["FormView"] | null;
            /**
             * @description `question`, `ask_user`, `dependency`, `error`, `fault`, `permission`, `stall`, `steered`, `time_over`, `cost_over`,
             *     `tokens_over` or `review`.
             */
            kind: string;
            /** @description What can be chosen; empty where anything can be said. */
            options: string[];
            /** @description Whether the agent waits for ever. */
            required: boolean;
            /** @description The options that allow something for the rest of the session, the narrowest first. */
            rules?: components["schemas"]["RuleView"][];
            /** @description Whether a person can decline it (`skip`): the agent goes on with the default, or without. */
            skippable?: boolean;
            /** @description The question, or what is wrong, or what is wanted. */
            text: string;
        };
        /** @description How much may be used before a person is asked. What is not limited is null. */
        BudgetView: {
            /**
             * Format: double
             * @description In US dollars, with what a person has raised it by.
             */
            cost_usd_max?: number | null;
            /**
             * Format: int64
             * @description In seconds of work.
             */
            time_s_max?: number | null;
            /**
             * Format: int64
             * @description In tokens of every kind, with what a person has raised it by.
             */
            tokens_max?: number | null;
        };
        /** @description A line of an edit. */
        ChangedLine: {
            /** @description What becomes of it. */
            change: components["schemas"]["LineChange"];
            /** @description The line without its end. */
            text: string;
        };
        /** @description What stood in a session's directory at one moment. */
        CheckpointView: {
            /**
             * Format: int64
             * @description When it was wanted, in UTC milliseconds.
             */
            at_ms: number;
            /** @description Its commit. */
            commit?: string | null;
            /** @description The agent's conversation by then. */
            conversation?: string | null;
            /** @description Its id. */
            id: string;
            /** @description What is not in it, the first of them by name and why. */
            left_out: string[];
            /**
             * Format: int64
             * @description How many are not in it.
             */
            left_out_count: number;
            /** @description Why there is none: a `key` (`no_repository`, `unchanged`, `failed`) with its parameters. */
            reason?: Record<string, unknown> | null;
            /** @description The ref that leads to it. */
            reference?: string | null;
            /** @description What was open by then. */
            requests: string[];
            /** @description Whether the agent can be taken back to where it was in its conversation. */
            rewindable: boolean;
            /** @description To which run it belongs. */
            run: string;
            /**
             * Format: int64
             * @description The place in the journal.
             */
            seq: number;
            /** @description Whose work it is. */
            session: string;
            /** @description How it stands: `wanted`, `made`, `skipped` or `pruned`. */
            state: string;
            /** @description Why it was made: `request`, `time`, `person`, `rest` or `restore`. */
            why: string;
        };
        /** @description A phase that is over. */
        ClosedView: {
            /**
             * Format: int32
             * @description The phase.
             */
            phase: number;
            /** @description What is done without for that. */
            skipped: string[];
        };
        /** @description What was found about a criterion. */
        CriterionView: {
            /** @description How one can see that. */
            evidence: string;
            /** @description Where. */
            files: string[];
            /** @description Its name. */
            id: string;
            /** @description Whether it is so. */
            passed: boolean;
            /** @description In words. */
            text: string;
        };
        /** @description A text of which a list carries only the beginning, or nothing where an answer repeats it. */
        CutText: {
            /**
             * Format: int64
             * @description How long the whole is, in characters.
             */
            chars: number;
            /** @description Which field, as a JSON Pointer: `/ask/context`. */
            field: string;
        };
        /** @description Who called whom. */
        DiagramView: {
            /** @description A sequence diagram in Mermaid's language. */
            mermaid: string;
        };
        /** @description What a main agent has asked in the thin dialect, and is not answered yet. */
        ErrandView: {
            /**
             * Format: int64
             * @description When, in UTC milliseconds.
             */
            at_ms: number;
            /** @description What it said: `TASK_ID:T1.3`, with up to two lines below it. */
            line: string;
            /**
             * Format: int64
             * @description Counted from 1, in its session.
             */
            number: number;
            /** @description The run that does the task, once there is one. */
            run?: string | null;
        };
        /** @description Something that happened. */
        EventView: Record<string, unknown> & {
            /**
             * Format: int64
             * @description When, in UTC milliseconds.
             */
            at: number;
            /** @description What, as `noun.past_verb`. */
            kind: string;
            /** @description The project. */
            project?: string | null;
            /** @description The run. */
            run?: string | null;
            /**
             * Format: int64
             * @description Its place in the journal.
             */
            seq: number;
            /** @description The session. */
            session?: string | null;
            /**
             * Format: int32
             * @description The version of its form.
             */
            v: number;
        };
        /**
         * @description How a task is that was asked for.
         * @enum {string}
         */
        ExecutionStatus: "running" | "done" | "failed";
        /** @description How a task is that was asked for. */
        ExecutionView: {
            /**
             * Format: int64
             * @description How long its attempts took, once it has ended.
             */
            elapsed_ms: number;
            /** @description Why it has failed, in few words. */
            reason?: string | null;
            /** @description How it is. */
            state: components["schemas"]["ExecutionStatus"];
            /** @description Its id. */
            task: string;
            /**
             * Format: int32
             * @description How many tests its check says it has run.
             */
            tests?: number | null;
            /**
             * Format: int32
             * @description How often it was tried, as `retry_limit` counts it.
             */
            tries: number;
        };
        /** @description A branch with what was approved. */
        ExportView: {
            /** @description The branch. */
            branch: string;
            /** @description Its commits, oldest first. */
            commits: components["schemas"]["ExportedView"][];
            /** @description The reports of the approved gates, in Markdown. */
            report: string;
        };
        /** @description A commit with an approved phase. */
        ExportedView: {
            /** @description The commit. */
            commit: string;
            /** @description Its name. */
            name: string;
            /**
             * Format: int32
             * @description The number of the phase.
             */
            phase: number;
            /** @description Exactly the tree that was approved. */
            tree: string;
        };
        /** @description A value that is wanted. */
        FieldView: {
            /** @description The variable. */
            name: string;
            /** @description Whether most do without. */
            optional: boolean;
            /** @description Whether nobody is to see it while it is typed. */
            secret: boolean;
        };
        /** @description What has to be filled in, or what approval does. */
        FormView: {
            /** @description The command that approval runs. */
            command?: string[];
            /** @description The values that are wanted, in this order. */
            fields?: components["schemas"]["FieldView"][];
            /** @description The file that approval makes or changes beside the command, such as `requirements.txt`. */
            manifest?: string | null;
            /** @description Whether values under other names can be given, too. */
            other_names?: boolean;
            /** @description Why it cannot be done here. */
            problem?: string | null;
            /** @description Whether the program runs on and does not see the values by itself: `ostler need` prints them to it. */
            unseen?: boolean;
        };
        /** @description A secret in a changed file. */
        FoundSecretView: {
            /** @description The file, from the root of the checkout. */
            file: string;
            /**
             * Format: int64
             * @description The first line with it.
             */
            line: number;
            /** @description Its name. */
            secret: string;
        };
        /** @description What a command has said. */
        GateCheckView: {
            /**
             * Format: int32
             * @description Its exit code.
             */
            code: number;
            junit?: components["schemas"]["JunitView"] | null;
            /** @description `setup`, `check` or `tests`. */
            kind: string;
            /** @description What it said at the end. */
            output: string;
            /** @description Whether it has taken too long. */
            overdue: boolean;
            /** @description The command. */
            run: string;
            /**
             * Format: int64
             * @description How long it took.
             */
            time_ms: number;
        };
        /** @description A file at a gate. */
        GateFileView: {
            /** @description Whether the agent has announced it. */
            announced: boolean;
            /**
             * Format: int64
             * @description How large it is; null if it is not there.
             */
            bytes?: number | null;
            /** @description `added`, `modified` or `deleted` since the phase began. */
            change?: string | null;
            /** @description Whether it is expected. */
            expected: boolean;
            /** @description Its path in the repository. */
            path: string;
        };
        /** @description Something that is wrong. */
        GateProblemView: {
            /** @description All of it. */
            fields: Record<string, unknown>;
            /** @description What kind of thing, such as `missing`. */
            key: string;
            /** @description The file it is about, if it is about one. */
            path?: string | null;
            /** @description In a sentence, in the run's language. */
            text: string;
        };
        /** @description A look at the work of a phase. */
        GateView: {
            announced?: components["schemas"]["AnnouncedView"] | null;
            /**
             * Format: int64
             * @description When it began.
             */
            at_ms: number;
            /** @description The checkpoint that it is about. */
            checkpoint?: string | null;
            /** @description What was run. */
            checks: components["schemas"]["GateCheckView"][];
            /** @description What is to be run. */
            commands: string[];
            /** @description Its commit. */
            commit?: string | null;
            /**
             * Format: int64
             * @description When it was over.
             */
            ended_at_ms?: number | null;
            /** @description What was announced and is expected by nothing. */
            extra: string[];
            /** @description What is announced, expected or changed, the first of them. */
            files: components["schemas"]["GateFileView"][];
            /**
             * Format: int64
             * @description How many there are.
             */
            files_count: number;
            /**
             * Format: int32
             * @description At `check`: which command, from 0.
             */
            index?: number | null;
            /**
             * Format: int32
             * @description From 1, in its phase.
             */
            number: number;
            /** @description Whether nothing is wrong; null while that is not known. */
            passed?: boolean | null;
            /** @description What is wrong. */
            problems: components["schemas"]["GateProblemView"][];
            /** @description Where a person is asked. */
            request?: string | null;
            /** @description What verifiers have said, oldest first. */
            rounds: components["schemas"]["RoundView"][];
            /** @description `waiting`, `checkpoint`, `collect`, `check`, `place`, `verifier`, `verdict`, `report`, `review` or `done`. */
            step: string;
            /** @description Its tree. */
            tree?: string | null;
            /** @description At `verifier` and `verdict`: who. */
            verifier?: string | null;
            /** @description At `place`: whether the verifier waits until another one that uses the same login has ended. */
            waits_for_login?: boolean;
            /** @description Why there is one: `said`, `ended`, `again` or `changed`. */
            why: string;
        };
        /** @description The server itself. */
        InfoView: {
            /** @description The user's configuration that it reads, whether or not the file is there. */
            configuration?: string | null;
            /** @description Where the page can be had. A server of an older version does not say it. */
            page?: components["schemas"]["PageView"];
            /**
             * Format: int32
             * @description Its process.
             */
            pid: number;
            /**
             * Format: int64
             * @description The last event of the journal.
             */
            seq: number;
            /** @description What tells it from the server of every other state directory, for as long as that is there. */
            server?: string;
            /**
             * Format: int64
             * @description Since when, in UTC milliseconds.
             */
            started_at_ms: number;
            /** @description The sockets that another process has removed or replaced since the server started. */
            taken_sockets?: components["schemas"]["TakenSocketView"][];
            /** @description The sessions whose shims are alive and cannot be reached. Only a cancel ends them. */
            unreached?: string[];
            /**
             * Format: int64
             * @description The largest file that can be given to an agent.
             */
            upload_bytes_max?: number;
            /** @description Whether secrets can be kept and given. */
            vault?: components["schemas"]["VaultState"];
            /** @description Its version. */
            version: string;
        };
        /** @description What has become of a package. */
        InstallView: {
            /** @description Why it failed. */
            reason?: string | null;
            /** @description `running`, `installed` or `failed`. */
            state: string;
        };
        /**
         * @description How a call stands.
         * @enum {string}
         */
        InvocationStatus: "pending" | "in_progress" | "completed" | "failed" | "cancelled";
        /** @description A call of one agent by another. */
        InvocationView: {
            /**
             * Format: int64
             * @description When its words were read.
             */
            began_at_ms?: number | null;
            /** @description The role that was called. */
            callee: string;
            /** @description The name of who called: its role, or the id of its session. */
            caller: string;
            /** @description What the other should know. */
            context?: string | null;
            /** @description Which of its texts a list does not carry whole. */
            cut?: components["schemas"]["CutText"][];
            /**
             * Format: int32
             * @description How many calls deep it is.
             */
            depth: number;
            /**
             * Format: int64
             * @description When it ended.
             */
            ended_at_ms?: number | null;
            /** @description Its id. */
            id: string;
            /**
             * Format: int64
             * @description When it was opened.
             */
            opened_at_ms: number;
            /** @description Its project. */
            project: string;
            /** @description The request that a person has to answer before it is made, because the same call brought nothing new before. */
            request?: string | null;
            /** @description The result, if there is one. */
            result?: string | null;
            /** @description The run of who began the chain that it is part of. */
            run: string;
            /** @description The session that is to do it. */
            seat?: string | null;
            /** @description The session of who called. */
            session: string;
            /** @description How it stands. */
            status: components["schemas"]["InvocationStatus"];
            /** @description What is to be done. */
            task: string;
            /** @description Why it has ended, if it has. */
            why?: string | null;
            /** @description What the caller is told, where that is more than a result. */
            words?: string | null;
        };
        /** @description What was written about tests. */
        JunitView: {
            /**
             * Format: int64
             * @description How many could not be run.
             */
            errors: number;
            /** @description The first of those that failed. */
            failed: string[];
            /**
             * Format: int64
             * @description How many failed.
             */
            failures: number;
            /**
             * Format: int64
             * @description How many were left out.
             */
            skipped: number;
            /**
             * Format: int64
             * @description How many.
             */
            tests: number;
        };
        /** @description One process of a session. */
        LaunchView: {
            /**
             * Format: int64
             * @description When it was ordered.
             */
            at_ms: number;
            /** @description Why it was started: `first`, `bring`, `resume`, `attempt`, `limit` or `rework`. */
            cause: string;
            /** @description How it ended: `how` is `exited`, `not_started` or `lost`. */
            ended?: Record<string, unknown> | null;
            /**
             * @description Why Ostler ended it, if it did: `rest` (it waited long for an answer; the answer starts it again), `relaunch`,
             *     `cancel`, `failed`, `dismissed` or `idle`.
             */
            ending?: string | null;
            /**
             * Format: int64
             * @description Where in its output the last thing that was heard begins.
             */
            heard_at?: number | null;
            /**
             * Format: int32
             * @description Counted from 1.
             */
            number: number;
            /**
             * Format: int32
             * @description The process, once it ran.
             */
            pid?: number | null;
            /** @description What it was told. */
            prompt: string;
            /**
             * Format: int64
             * @description Since when its tree stands still.
             */
            stopped_at_ms?: number | null;
            terminal?: components["schemas"]["NewSize"] | null;
            /**
             * Format: int64
             * @description How many items of its output were counted and not recorded, because it printed more than is recorded of one launch.
             */
            unrecorded?: number;
            /** @description What it used. */
            usage?: components["schemas"]["UsageView"];
        };
        /**
         * @description What becomes of a line.
         * @enum {string}
         */
        LineChange: "same" | "removed" | "added";
        /** @description A link that signs a browser in once. There is no `Debug`: it is a key. */
        LinkView: {
            /** @description The same link for other machines, if they can reach this one. */
            away?: string | null;
            /**
             * Format: int64
             * @description Until when it is good, in milliseconds since 1970, UTC.
             */
            over_at_ms: number;
            /** @description The link, for this machine. */
            url: string;
        };
        /** @description A line of a log. */
        LogLineView: {
            /** @description The line after it. */
            after?: string | null;
            /** @description The line before it. */
            before?: string | null;
            /**
             * Format: int64
             * @description The byte of the log at which it begins, or at which the event begins that has it.
             */
            offset: number;
            /** @description The line; of a long one, its beginning. */
            text: string;
        };
        /** @description Where a log has what was searched for. */
        LogSearchView: {
            /**
             * Format: int64
             * @description How many lines of the log have it.
             */
            count: number;
            /**
             * Format: int32
             * @description The launch whose log was searched.
             */
            launch: number;
            /** @description The newest of these lines, oldest first. */
            lines: components["schemas"]["LogLineView"][];
            /**
             * Format: int64
             * @description How much of the beginning of a very long log was not searched.
             */
            unsearched_bytes?: number;
        };
        /** @description What has ended since the person last looked. */
        LookedView: {
            /**
             * @description Sessions that are done or have failed since, and are neither merged nor discarded; the latest first. Those that
             *     work on tasks of a loop are counted in `loops`.
             */
            ended: components["schemas"]["SessionView"][];
            /**
             * Format: int64
             * @description When the last event happened that the person has seen, in UTC milliseconds; null if they have seen none.
             */
            last_looked_at_ms?: number | null;
            /** @description Loops of which sessions have ended since, by the number of the loop. */
            loops?: components["schemas"]["LoopEndsView"][];
            /**
             * Format: int64
             * @description How many more there are.
             */
            more: number;
            /**
             * Format: int64
             * @description The last event that this is true of: who has shown it says so with this number.
             */
            seq: number;
        };
        /** @description How many tasks are in each state. */
        LoopCounts: {
            /** @description Waiting for what was given up. */
            blocked: number;
            /** @description Done. */
            completed: number;
            /** @description Given up. */
            failed: number;
            /** @description Under way. */
            in_progress: number;
            /** @description Done without. */
            skipped: number;
            /** @description All of them. */
            total: number;
        };
        /** @description What has ended of a loop through a task file. */
        LoopEndsView: {
            /**
             * Format: int64
             * @description How many of its sessions are done.
             */
            done: number;
            /**
             * Format: int64
             * @description How many have failed, attempts that were repeated included.
             */
            failed: number;
            /** @description The loop's own project. */
            project: string;
            /** @description The session of the loop. */
            session: string;
        };
        /**
         * @description What a loop has said and read, beside what a main agent would have that hands out whole prompts and reads whole
         *     reports. Both are kept as files.
         */
        LoopExchange: {
            /**
             * Format: int64
             * @description How often somebody was called.
             */
            calls: number;
            /** @description Where: `thin.txt`, and a file for each call in `full`. */
            directory: string;
            /**
             * Format: int64
             * @description The tokens of the prompts and the reports.
             */
            full_tokens?: number | null;
            /**
             * Format: double
             * @description How much less that is, in percent of the whole prompts and reports.
             */
            saved_percent?: number | null;
            /**
             * Format: int64
             * @description The tokens of its own lines.
             */
            thin_tokens?: number | null;
            /** @description What the tokens were counted with; nothing, if this build cannot count them. */
            tokenizer?: string | null;
        };
        /** @description A phase in a loop. */
        LoopPhaseView: {
            /**
             * Format: int64
             * @description When its checkpoint was recorded by this loop.
             */
            ended_at_ms?: number | null;
            /** @description The commit that has its work. */
            merged?: string | null;
            /**
             * Format: int32
             * @description Its number.
             */
            number: number;
            /** @description The command that tested it. */
            test?: string | null;
            /**
             * Format: int32
             * @description The exit code of that.
             */
            test_code?: number | null;
            /** @description Its title. */
            title: string;
            /** @description Why it could not be merged. */
            unmerged?: string | null;
            /** @description Where it is worked on, relative to the project, if in a place of its own. */
            worktree?: string | null;
        };
        /** @description What a loop has come to. */
        LoopReport: {
            /**
             * Format: int64
             * @description For how long somebody worked, all together.
             */
            agent_ms: number;
            /**
             * Format: int64
             * @description How long these took, with their waiting.
             */
            critical_ms: number;
            /** @description The chain of tasks that took longest, and could not have been faster with more at once. */
            critical_path: string[];
            /** @description The tasks that it has done. */
            done: number;
            exchange?: components["schemas"]["LoopExchange"] | null;
            /**
             * Format: int32
             * @description How often one had to be tried again.
             */
            retries: number;
            /**
             * Format: double
             * @description How many times faster than one after the other: what all tasks took, each with its own waiting, beside the time
             *     in which the loop did not wait itself.
             */
            speed_up: number;
            /**
             * Format: int64
             * @description For how long the tasks waited besides, all together: for answers, or because they could not go on.
             */
            tasks_waited_ms?: number;
            /**
             * Format: int64
             * @description For how long of that nothing was done, because the loop waited for a person or was paused.
             */
            waited_ms?: number;
            /**
             * Format: int64
             * @description How long it took.
             */
            wall_ms: number;
        };
        /** @description A task in a loop. */
        LoopTaskView: {
            /**
             * Format: int64
             * @description When this loop began it.
             */
            began_at_ms?: number | null;
            /**
             * Format: int64
             * @description When it was over.
             */
            ended_at_ms?: number | null;
            /** @description Its id. */
            id: string;
            /** @description What was said of it then. */
            line?: string | null;
            /** @description The tasks that it waits for. */
            needs?: string[];
            /**
             * Format: int32
             * @description Its phase.
             */
            phase: number;
            request?: components["schemas"]["RequestView"] | null;
            /** @description The run that works on it, or did last. */
            run?: string | null;
            /** @description `pending`, `ready`, `in_progress`, `completed`, `failed`, `blocked` or `skipped`. */
            state: string;
            /**
             * Format: int32
             * @description How many tests its check says it has run.
             */
            tests?: number | null;
            /** @description What it is called. */
            title: string;
            /**
             * Format: int32
             * @description How often it was tried.
             */
            tries: number;
            /**
             * Format: int64
             * @description For how long somebody worked on it.
             */
            worked_ms: number;
        };
        /** @description A loop through a task file. */
        LoopView: {
            /** @description How many tasks are in each state. */
            counts: components["schemas"]["LoopCounts"];
            /**
             * Format: int64
             * @description When it began.
             */
            created_at_ms: number;
            /**
             * Format: int64
             * @description When it ended.
             */
            ended_at_ms?: number | null;
            outcome?: components["schemas"]["Outcome"] | null;
            /**
             * Format: int32
             * @description How many tasks run at once.
             */
            parallel_max: number;
            /** @description The phases of the file. */
            phases: components["schemas"]["LoopPhaseView"][];
            /** @description Where it belongs. */
            project: components["schemas"]["ProjectView"];
            /** @description What came of it so far: all of it, once it is over. */
            report: components["schemas"]["LoopReport"];
            /** @description The request that waits for a person, if one does. */
            request?: string | null;
            /** @description Its run. */
            run: string;
            /** @description Its session: to pause, continue and cancel it. */
            session: string;
            /** @description How it is. */
            status: string;
            /** @description The tasks of the file, in its order. */
            tasks: components["schemas"]["LoopTaskView"][];
        };
        /** @description Where the same stands that an agent asks. */
        MarkView: {
            /** @description What the tool was used on: a command, a path. */
            about?: string | null;
            /** @description In whose text: `tool_output`, `sub_agent`, `prompt`, `message` or `check`. */
            source: string;
            /** @description The tool's name, where it is known. */
            tool?: string | null;
        };
        /** @description A file that holds every word. */
        MemoryFileView: {
            /**
             * Format: int64
             * @description Its length.
             */
            bytes: number;
            /** @description Whether sections or text are longer than what is shown. */
            cut: boolean;
            /**
             * Format: int64
             * @description When it was changed last, in UTC milliseconds.
             */
            modified_at_ms: number;
            /** @description Its path, as seen from the directory that was searched. */
            path: string;
            /** @description Layer 2: the parts around the lines with a word. */
            sections: components["schemas"]["MemorySectionView"][];
            /** @description Layer 3: its text. */
            text?: string | null;
        };
        /** @description A line of a file. */
        MemoryLineView: {
            /** @description Whether it holds one of the words. */
            hit: boolean;
            /**
             * Format: int64
             * @description Its number, from one.
             */
            number: number;
            /** @description Its text; of a long one, its beginning. */
            text: string;
        };
        /** @description Files of a project's memory that hold every word, best first. */
        MemorySearchView: {
            /** @description The directory that was searched. */
            directory: string;
            /** @description Whether there is such a directory. */
            exists: boolean;
            /** @description The best of them. */
            files: components["schemas"]["MemoryFileView"][];
            /** @description Whether there are more files than an index holds, so that some were not searched. */
            incomplete: boolean;
            /**
             * Format: int64
             * @description How many files were not searched: longer than 4 MiB, no text, or unreadable.
             */
            left_out: number;
            /**
             * Format: int64
             * @description How many files hold every word.
             */
            total: number;
        };
        /** @description Lines that follow each other. */
        MemorySectionView: {
            /** @description The heading above the first line with a word. */
            heading?: string | null;
            /** @description The lines. */
            lines: components["schemas"]["MemoryLineView"][];
        };
        /** @description An answer to a request. */
        NewAnswer: {
            /** @description Yes or no. */
            decision?: boolean | null;
            /** @description Whether the words count although they are none of the options. */
            insist?: boolean;
            /** @description Whether these values may be given to whoever asks for them in the same project. */
            reuse?: boolean;
            /** @description Whether these values count as secret and are masked. Without it, keys do, and a variable if it looks like one. */
            secret?: boolean | null;
            /** @description Whether the agent has to do without, or with its default. */
            skip?: boolean;
            /** @description Words, an option, its number, or a path. */
            value?: string | null;
            /** @description Values by name, for a request that asks for values. They go to the vault, and nowhere else. */
            values?: Record<string, unknown>;
        };
        /** @description The end of a phase. */
        NewClose: {
            /** @description Whether what was given up in it, and what waits for that, is done without. */
            with_failures?: boolean;
        };
        /** @description A demonstration. */
        NewDemo: {
            /** @description Whether an idea goes through all four phases, instead of a minute with three agents. */
            full?: boolean;
            /** @description Whether its agents speak Korean. */
            korean?: boolean;
        };
        /** @description A task that is to be done. */
        NewExecution: {
            /**
             * @description Whether the client has heard before that the task is under way: a failure since then is told, and the task does not
             *     begin anew.
             */
            again?: boolean;
            /** @description The agent, whoever the owner is. */
            agent?: string | null;
            /** @description A directory of the project, absolute. */
            directory: string;
            /** @description The environment it runs in; that of the server, if nothing is said. A main agent's tasks run in its own. */
            environment?: {
                [key: string]: string;
            } | null;
            /** @description Whether the agent is spoken to in Korean. */
            korean?: boolean;
            /** @description More about the task; `timeout` ends all its attempts together after so many seconds, and 0 never. */
            meta?: Record<string, unknown> | null;
            /** @description The id of the task. */
            task: string;
            /** @description The task file, if not that of the project. */
            tasks?: string | null;
            /** @description The worktree in which it is done, relative to the project; without it the project itself. */
            worktree?: string | null;
        };
        /** @description Where approved phases go. */
        NewExport: {
            /** @description The branch; `ostler/` and the run's id, if nothing is said. */
            branch?: string | null;
        };
        /** @description A link that signs a browser in. */
        NewLink: {
            /** @description Where on the page it leads, such as `/requests/q_7`. */
            path?: string | null;
        };
        /** @description A person has looked. */
        NewLook: {
            /**
             * Format: int64
             * @description At everything up to this event.
             */
            seq?: number | null;
            /** @description At the end of this session, by its id or its run's. */
            session?: string | null;
        };
        /** @description A task file that is to be worked through. */
        NewLoop: {
            /** @description Who does all tasks, whoever their owners are. */
            agent?: string | null;
            /** @description A directory of the project, absolute. */
            directory: string;
            /** @description The environment they run in; that of the server, if nothing is said. */
            environment?: {
                [key: string]: string;
            } | null;
            /** @description Whether the agents are spoken to in Korean. */
            korean?: boolean;
            /**
             * Format: int32
             * @description How many tasks run at once; 3, if nobody says otherwise.
             */
            parallel_max?: number | null;
            /**
             * Format: int32
             * @description This phase alone.
             */
            phase?: number | null;
            /** @description The task file, if not that of the project. */
            tasks?: string | null;
        };
        /** @description Words for an agent. */
        NewMessage: {
            /** @description The words. */
            text: string;
        };
        /** @description Words for a role. */
        NewOfficeMessage: {
            /** @description The variables that it finds in its environment where it has to be started; those of the server, if nothing is said. */
            environment?: {
                [key: string]: string;
            } | null;
            /** @description Whether it is spoken to in Korean, if nothing else says so. */
            korean?: boolean;
            /** @description To whom. */
            role: string;
            /** @description The words. */
            text: string;
        };
        /** @description An idea that is to go through phases. */
        NewPhases: {
            /** @description Who works, if not who the configuration says. */
            agent?: string | null;
            /**
             * Format: double
             * @description After how many US dollars a person is asked whether to go on.
             */
            cost_usd_max?: number | null;
            /** @description A directory of the project, absolute; its repository's root is worked in. */
            directory: string;
            /** @description The environment they run in; that of the server, if nothing is said. */
            environment?: {
                [key: string]: string;
            } | null;
            /** @description The idea. */
            idea: string;
            /** @description Whether the agents are spoken to in Korean. */
            korean?: boolean;
            /**
             * Format: int64
             * @description After how many seconds of work, in all phases and at their gates, a person is asked whether to go on.
             */
            time_s_max?: number | null;
            /**
             * Format: int64
             * @description After how many tokens a person is asked whether to go on.
             */
            tokens_max?: number | null;
            /** @description Who verifies; `none` for nobody. */
            verifier?: string | null;
        };
        /** @description A project that is to be known. */
        NewProjectPlace: {
            /** @description A directory in it, absolute. */
            directory: string;
        };
        /** @description Which checkpoints are to go. */
        NewPrune: {
            /** @description A directory of the repository, absolute. */
            directory: string;
            /** @description Whether only to say what would go. */
            dry_run?: boolean;
        };
        /** @description How to go back to a checkpoint. */
        NewRestore: {
            /** @description Whether the conversation goes back too; yes, if nothing is said. */
            conversation?: boolean | null;
        };
        /** @description How a session is to go on. */
        NewResume: {
            /** @description What it is told; if nothing, to go on where it was. */
            prompt?: string | null;
        };
        /** @description What a person decides about the work of a phase. */
        NewReview: {
            /** @description What. */
            decision: components["schemas"]["ReviewDecision"];
            /** @description To approve although the gate has failed. */
            insist?: boolean;
            /** @description To approve: the tree that was shown. */
            tree?: string | null;
            /** @description What is to be changed, or why it is rejected. */
            words?: string | null;
        };
        /** @description The end of trust. */
        NewRevocation: {
            /** @description A directory of the project, or its root if it is gone; absolute. */
            directory: string;
        };
        /** @description Something to be done, by an agent or a command. */
        NewRun: {
            /** @description The agent, by the name of its table. Without one there must be a command. */
            agent?: string | null;
            /** @description Rules of the agent's CLI for what needs no permission in this run, such as `Bash(git *)`; beside those of its table. */
            allow?: string[];
            /** @description More arguments for the agent's CLI in this run. */
            arguments?: string[];
            /**
             * Format: int32
             * @description How often the agent may try until the check passes; once, if nothing is said.
             */
            attempts_max?: number | null;
            /** @description A shell command that exits with 0 only if the work is done. */
            check?: string | null;
            /**
             * Format: int64
             * @description After how many seconds a check is ended and counts as failed; half an hour, if nothing is said.
             */
            check_time_s_max?: number | null;
            /** @description A plain command: program and arguments. */
            command?: string[];
            /** @description Whether the agent is told what the project has on record (`.claude/memory/context`); yes, if nothing is said. */
            context?: boolean | null;
            /**
             * Format: double
             * @description After how many US dollars a person is asked whether to go on.
             */
            cost_usd_max?: number | null;
            /** @description The directory of the project, absolute. */
            directory: string;
            /**
             * @description The environment it runs in; that of the server, if nothing is said. It is kept in a file that only the user can
             *     read, never in the journal.
             */
            environment?: {
                [key: string]: string;
            } | null;
            /** @description Whether the agent is told how to ask; yes, if nothing is said. */
            guide?: boolean | null;
            /** @description Whether the agent is spoken to in Korean. */
            korean?: boolean;
            /**
             * @description Whether it is a main agent: what it prints in the thin dialect (`RESOLVE_NEXT`, `TASK_ID:T1.3`, `CUSTOM:SKIP:T1.3`)
             *     is carried out, and answered on its input.
             */
            main?: boolean;
            /** @description Whether the agent is given the tools with which it asks; yes, if nothing is said. */
            mcp?: boolean | null;
            /** @description The model, if not the agent's own choice. */
            model?: string | null;
            /**
             * @description What its session is called, beside its id: 1 to 40 letters, digits, `-`, `_` and `.`, a letter first. No other
             *     session that is not over may have the name.
             */
            name?: string | null;
            /** @description What the agent may do without asking in this run, in the word of its CLI, such as `acceptEdits`. */
            permission_mode?: string | null;
            /** @description What the agent is to do. */
            prompt?: string | null;
            /** @description Whether it runs on a terminal, and of which size: lines, then characters in a line. */
            terminal?: [
                number,
                number
            ] | null;
            /**
             * Format: int64
             * @description After how many seconds of work a person is asked whether to go on.
             */
            time_s_max?: number | null;
            /** @description What it is called in lists; the first line of what is to be done, if nothing is said. */
            title?: string | null;
            /**
             * Format: int64
             * @description After how many tokens a person is asked whether to go on.
             */
            tokens_max?: number | null;
            /**
             * Format: int32
             * @description The most turns.
             */
            turns_max?: number | null;
            /** @description Whether its worktree begins with what the checkout holds and no commit has, instead of leaving it out. */
            with_changes?: boolean;
            /** @description Whether it gets a branch and a directory of its own. */
            worktree?: boolean;
        };
        /** @description A secret to be kept. There is no `Debug`: it holds the value. */
        NewSecret: {
            /** @description Where in a project, absolute; the project is registered if it is not known yet. */
            directory?: string | null;
            /** @description Where it is looked up each time, instead of a value: `env:NAME`, `file:PATH` or `cmd:COMMAND`. */
            from?: string | null;
            /** @description The name: that of the variable an agent gets. */
            name: string;
            /** @description Whether it does not count as secret: it is shown wherever it is printed. No, if nothing is said. */
            plain?: boolean;
            /** @description The project, by its id or name, instead of a directory. */
            project?: string | null;
            /** @description Whether it may be given to agents of the project without asking; yes, if nothing is said. */
            reuse?: boolean | null;
            /** @description The value itself. */
            value?: string | null;
        };
        /** @description Another name for a session. */
        NewSessionName: {
            /** @description 1 to 40 letters and digits of any script, `-`, `_` and `.`, a letter first; null takes the name away. */
            name?: string | null;
        };
        /** @description What a browser shows to be signed in. There is no `Debug`: it holds the code. */
        NewSignIn: {
            /** @description What stands behind the `#` of the link, up to the first `/`. */
            code: string;
        };
        /** @description A terminal of another size. */
        NewSize: {
            /**
             * Format: int32
             * @description Characters in a line.
             */
            columns: number;
            /**
             * Format: int32
             * @description Lines.
             */
            rows: number;
        };
        /** @description A token for a script. */
        NewToken: {
            /**
             * Format: int32
             * @description For how many days it is good; 90, if nothing is said.
             */
            days?: number | null;
            /** @description What its owner calls it: letters, digits, `-`, `_` and `.`. */
            name: string;
            /** @description Whether it may only look, and see no secrets. */
            read_only?: boolean;
        };
        /** @description Trust in what a repository would run. */
        NewTrust: {
            /** @description A directory of the project, absolute. */
            directory: string;
            /** @description What was shown to the person who agrees: the `hash` of every command. */
            hashes: string[];
            /** @description A task file whose commands were shown too, if not that of the project. */
            tasks?: string | null;
        };
        /** @description Who is told what needs somebody. */
        NotificationsView: {
            /** @description The channels, in the order of the configuration. */
            channels: components["schemas"]["NotifyChannelView"][];
            /** @description Where links in notices lead to. */
            page: string;
            /** @description What is wrong with the configuration; the channels are still those from before. */
            problem?: string | null;
        };
        /** @description Somebody who is told. */
        NotifyChannelView: {
            /**
             * Format: int64
             * @description After how many milliseconds it is told what can be settled.
             */
            after_ms: number;
            /**
             * Format: int64
             * @description How many notices were given up.
             */
            given_up: number;
            /** @description What it is told of. */
            kinds: components["schemas"]["NotifyKind"][];
            /** @description Why not. */
            last_error?: string | null;
            /**
             * Format: int64
             * @description When one last did not.
             */
            last_error_ms?: number | null;
            /**
             * Format: int64
             * @description When a message arrived last.
             */
            last_success_ms?: number | null;
            /** @description Its name. */
            name: string;
            /**
             * Format: int64
             * @description When it is tried again.
             */
            next_try_ms?: number | null;
            /**
             * Format: int64
             * @description How many notices wait.
             */
            pending: number;
            /**
             * Format: int32
             * @description How many messages it gets in a minute.
             */
            per_minute: number;
            /**
             * Format: int64
             * @description How many messages have arrived.
             */
            sent: number;
            /** @description How it stands. */
            state: components["schemas"]["NotifyState"];
            /** @description Whether it is told what agents say. */
            text: boolean;
            /** @description How it is reached. */
            type: components["schemas"]["NotifyType"];
            /** @description Whether it can take back what is settled. */
            withdraws: boolean;
        };
        /**
         * @description What somebody can be told of.
         * @enum {string}
         */
        NotifyKind: "question" | "dependency" | "permission" | "error" | "fault" | "budget" | "done" | "failed" | "interrupted" | "limit" | "phase";
        /**
         * @description How it stands with somebody who is told.
         * @enum {string}
         */
        NotifyState: "idle" | "waiting" | "failing";
        /** @description A test has arrived. */
        NotifyTestView: {
            /** @description Where. */
            channel: string;
            /** @description Its id, which a receiver can find again. */
            id: string;
        };
        /**
         * @description How somebody is reached.
         * @enum {string}
         */
        NotifyType: "slack" | "webhook" | "ntfy" | "command";
        /** @description The office of a project. */
        OfficeView: {
            /** @description Calls that are open, oldest first. */
            invocations: components["schemas"]["InvocationView"][];
            /** @description Its project. */
            project: string;
            /** @description Results that nobody has read yet, oldest first. */
            results: components["schemas"]["ResultView"][];
            /** @description Who can be called. */
            roles: components["schemas"]["RoleView"][];
            /** @description What roles have done in worktrees of their own and is not merged, oldest first. */
            unmerged?: components["schemas"]["UnmergedView"][];
        };
        /** @description How something ended. */
        Outcome: {
            /** @description How. */
            outcome: components["schemas"]["OutcomeKind"];
            /** @description Why it failed: a `key` with its parameters. */
            reason?: unknown;
            /** @description Whether a check says that it is done; otherwise it is the agent's word. */
            verified: boolean;
        };
        /**
         * @description The ways to end.
         * @enum {string}
         */
        OutcomeKind: "completed" | "failed" | "cancelled";
        /**
         * @description In which form the output of an agent is wanted.
         * @enum {string}
         */
        OutputForm: "bytes" | "pieces";
        /**
         * @description One of the two things that a process prints to.
         * @enum {string}
         */
        OutputStream: "out" | "err";
        /**
         * @description How the door for browsers stands.
         * @enum {string}
         */
        PageState: "open" | "off" | "shut" | "closed";
        /** @description Where the page can be had. */
        PageView: {
            /** @description Its address for other machines, if it has one. */
            away?: string | null;
            /** @description Why it is not open. */
            problem?: string | null;
            /** @description How the door for browsers stands. */
            state: components["schemas"]["PageState"];
            /** @description Its address on this machine, while it is open. */
            url?: string | null;
        };
        /** @description A rule that is in force. */
        PermissionView: {
            /**
             * Format: int64
             * @description When, in UTC milliseconds.
             */
            at_ms: number;
            /**
             * Format: int64
             * @description Its number in the session.
             */
            number: number;
            /** @description The request on which it was chosen. */
            request: string;
            /** @description The rule. */
            rule: components["schemas"]["RuleView"];
        };
        /** @description One phase. */
        PhaseView: {
            /** @description The name of the agent that works. */
            agent: string;
            approved?: components["schemas"]["ApprovedView"] | null;
            /** @description What it has to produce. */
            artifacts: components["schemas"]["ArtifactView"][];
            /** @description The commit of what stood there before. */
            base?: string | null;
            /**
             * Format: int64
             * @description When it was over.
             */
            ended_at_ms?: number | null;
            /** @description Its last gates, oldest first. */
            gates: components["schemas"]["GateView"][];
            /** @description What people call it. */
            name: string;
            /**
             * Format: int32
             * @description From 1.
             */
            number: number;
            /**
             * Format: int32
             * @description How many questions were asked.
             */
            questions: number;
            /**
             * Format: int32
             * @description How many are recommended at most.
             */
            questions_max: number;
            /**
             * Format: int32
             * @description How often it may.
             */
            rework_max: number;
            /**
             * Format: int32
             * @description How often it went back by itself since a person last had it.
             */
            reworks: number;
            /** @description Who works on it. */
            session?: string | null;
            /** @description All sessions of it: who works, then those who verified. */
            sessions: string[];
            /**
             * Format: int64
             * @description When it began.
             */
            started_at_ms?: number | null;
            /** @description `waiting`, `preparing`, `working`, `gate`, `review`, `ending`, `approved` or `ended`. */
            state: string;
            /** @description What was used for it. */
            usage: components["schemas"]["UsageView"];
            /** @description The name of the agent that verifies. */
            verifier?: string | null;
        };
        /**
         * @description How a run through phases is.
         * @enum {string}
         */
        PhasesState: "working" | "gate" | "review" | "done" | "rejected" | "failed" | "cancelled";
        /** @description A run that goes through phases. */
        PhasesView: {
            /** @description What it waits for: open requests of its current session. */
            blocked_by: string[];
            /**
             * Format: int64
             * @description When it was asked for.
             */
            created_at_ms: number;
            /**
             * Format: int32
             * @description The number of the phase that it is in.
             */
            current: number;
            /** @description Which of its texts a list does not carry whole. */
            cut?: components["schemas"]["CutText"][];
            /** @description Where it is worked. */
            directory: string;
            /**
             * Format: int64
             * @description When it ended.
             */
            ended_at_ms?: number | null;
            /** @description The idea. */
            idea: string;
            outcome?: components["schemas"]["Outcome"] | null;
            /** @description All phases, those too that have not begun. */
            phases: components["schemas"]["PhaseView"][];
            /** @description The project. */
            project: components["schemas"]["ProjectView"];
            /** @description The run. */
            run: string;
            /** @description How it is. */
            state: components["schemas"]["PhasesState"];
            /** @description The idea, in one line. */
            title: string;
            /** @description What was used for it. */
            usage: components["schemas"]["UsageView"];
        };
        /** @description A part of what an agent prints that a person would want to read. */
        PieceView: {
            /** @description Whether more of the same sentence follows. */
            fragment: boolean;
            /** @enum {string} */
            piece: "speech";
            /** @description The words. */
            text: string;
        } | {
            /** @description What on: a command, a path. */
            about?: string | null;
            /** @description Its name. */
            name: string;
            /** @enum {string} */
            piece: "tool";
        } | {
            /** @enum {string} */
            piece: "tool_output";
            /** @description All of it. */
            text: string;
        } | {
            /** @enum {string} */
            piece: "sub_agent";
            /** @description The words. */
            text: string;
        } | {
            /** @enum {string} */
            piece: "line";
            /** @description The line. */
            text: string;
        };
        /** @description Pieces of output, and where in the log what follows them begins. */
        PiecesView: {
            /**
             * Format: int64
             * @description The offset from which to go on.
             */
            next: number;
            /** @description The pieces, in order. */
            pieces: components["schemas"]["PieceView"][];
        };
        /** @description Why a request was not done. Nothing has changed. */
        Problem: {
            /** @description What there is to know about it, by its kind. */
            details?: unknown;
            /** @description What to do next. */
            hint?: string | null;
            /**
             * Format: int32
             * @description The status of the answer.
             */
            status: number;
            /** @description What happened, in a sentence. */
            title: string;
            /**
             * @description Which problem: a word that does not change, such as `settled` or `not_an_option`.
             * @enum {string}
             */
            type: "agent_and_command" | "bad_attempts" | "bad_body" | "bad_by" | "bad_cost" | "bad_directory" | "bad_key" | "bad_name" | "bad_offset" | "bad_path" | "bad_query" | "bad_reference" | "bad_role" | "bad_size" | "bad_time" | "bad_tokens" | "bad_value" | "branch_taken" | "checkpoint_gone" | "configuration" | "cost_unknown" | "demo_plays" | "empty_answer" | "empty_check" | "empty_field" | "empty_message" | "foreign_host" | "foreign_origin" | "gate_failed" | "git" | "inside" | "internal" | "invocation_over" | "key_reused" | "link_over" | "link_unknown" | "link_used" | "log_replaced" | "long_field" | "no_agent" | "no_amount" | "no_check" | "no_checkpoint" | "no_descriptors" | "no_diff" | "no_file" | "no_invocation" | "no_key" | "no_launch" | "no_loop" | "no_method" | "no_notify_channel" | "no_options" | "no_permission" | "no_phase" | "no_phases" | "no_place" | "no_project" | "no_prompt" | "no_report" | "no_request" | "no_result" | "no_role" | "no_route" | "no_run" | "no_secret" | "no_session" | "no_sign_in" | "no_task" | "no_task_phase" | "no_tasks" | "no_terminal" | "no_value" | "name_taken" | "no_worktree" | "not_an_option" | "not_asked" | "not_delivered" | "not_git" | "not_inside" | "not_installed" | "not_main" | "not_json" | "not_notified" | "not_now" | "not_over_tcp" | "not_review" | "not_running" | "not_signed_in" | "not_supported" | "not_waited_for" | "not_with_token" | "not_written" | "nothing_to_run" | "over_limit" | "page_shut" | "journal_locked" | "loop_busy" | "phases_busy" | "place_busy" | "read_only" | "required" | "restoring" | "review_wanted" | "secret_out_of_reach" | "settled" | "several_projects" | "stopping" | "tasks" | "task_not_so" | "tasks_locked" | "tasks_open" | "tasks_outside" | "tasks_state" | "tasks_unclear" | "tasks_unreadable" | "token_taken" | "tokens_unknown" | "too_large" | "too_many_connections" | "too_many_tokens" | "too_many_tries" | "too_slow" | "tree_changed" | "tree_not_shown" | "trust_changed" | "unknown_peer" | "untrusted" | "value_wanted" | "vault" | "vault_locked" | "vault_not_locked" | "vault_wrong_key" | "worktree_gone" | "yes_or_no" | "zero_byte";
        };
        /** @description A project, with what goes on in it. */
        ProjectSummary: components["schemas"]["ProjectView"] & {
            /**
             * Format: int64
             * @description When a session of it last changed how it is, in UTC milliseconds; null if there was none.
             */
            active_at_ms?: number | null;
            /**
             * Format: int64
             * @description How many of its requests are open.
             */
            requests: number;
            /**
             * Format: int64
             * @description How many of its sessions are neither over nor waiting for a person, and have something to do.
             */
            running: number;
            /**
             * Format: int64
             * @description How many of its sessions wait for a person.
             */
            waiting: number;
        };
        /** @description A repository or directory that is looked after. */
        ProjectView: {
            /** @description Whether it is a git repository. */
            git: boolean;
            /** @description Its id. */
            id: string;
            /** @description What a person calls it. */
            name: string;
            /** @description Its root. */
            root: string;
        };
        /** @description Something that was let go, or would be. */
        PrunedView: {
            /** @description The checkpoint; none if it was the work of a discarded worktree. */
            checkpoint?: string | null;
            /** @description Where it led. */
            commit: string;
            /** @description The ref. */
            reference: string;
            /** @description Whose work it was. */
            session: string;
        };
        /**
         * @description How a report is written.
         * @enum {string}
         */
        ReportFormat: "markdown" | "json";
        /**
         * @description Whether a request is settled.
         * @enum {string}
         */
        RequestState: "open" | "settled";
        /** @description Something that somebody has to settle. */
        RequestView: {
            /** @description Whether it is open, and whoever asked has ended and cannot be started again with an answer. */
            abandoned?: boolean;
            /** @description The agent's name. */
            agent: string;
            /** @description What is asked. */
            ask: components["schemas"]["AskView"];
            /** @description Which of its texts a list does not carry whole. */
            cut?: components["schemas"]["CutText"][];
            /**
             * @description How far the answer has got: `nothing`, `waiting`, `sent`, `refused`, `prompted`, `delivered`, `consumed` (the
             *     process has read it), `heard` (the conversation holds it; only where the agent's stream proves it) or
             *     `undeliverable`.
             */
            delivery: string;
            /** @description Whether nobody waits for it any more; it can still be answered. */
            expired: boolean;
            /**
             * Format: int64
             * @description When nobody waits for it any more.
             */
            expires_at_ms?: number | null;
            /** @description Its id. */
            id: string;
            install?: components["schemas"]["InstallView"] | null;
            mark?: components["schemas"]["MarkView"] | null;
            /**
             * Format: int64
             * @description When it was opened.
             */
            opened_at_ms: number;
            /** @description The project. */
            project: components["schemas"]["ProjectView"];
            /**
             * Format: int32
             * @description For an error that is tried again when it expires: the number of the retry.
             */
            retry?: number | null;
            /** @description The role it has in its office, if it has one. */
            role?: string | null;
            /** @description To which run it belongs. */
            run: string;
            /** @description Who asks. */
            session: string;
            /** @description What a person calls that session. */
            session_name?: string | null;
            settled?: components["schemas"]["SettledView"] | null;
            /** @description Who said it: `channel`, `speech`, `tagged`, `plain`, `stream`, or `ostler`. */
            trust: string;
        };
        /** @description What came of going back. */
        RestoreView: {
            before?: components["schemas"]["CheckpointView"] | null;
            /**
             * Format: int64
             * @description How many files were written or removed.
             */
            changed: number;
            /** @description The checkpoint that was wanted. */
            checkpoint: components["schemas"]["CheckpointView"];
            /**
             * @description What the next process of the session knows: `kept` everything that was said, `rewound` what was said by then,
             *     `new` nothing of it, for its CLI cannot go back.
             */
            conversation: string;
            /** @description Files that are still not as they were. */
            different: string[];
            /** @description Why not. */
            message?: string | null;
            /** @description Whether files are as they were then. */
            restored: boolean;
            /** @description Submodules that were at another commit; they are left where they are. */
            submodules: string[];
        };
        /** @description Something that one agent brings another. */
        ResultView: {
            /**
             * Format: int64
             * @description How long that file is.
             */
            bytes?: number | null;
            /** @description The thing itself, or its beginning. */
            content: string;
            /** @description Whether it was read. */
            delivered: boolean;
            /**
             * Format: int64
             * @description When it was read.
             */
            delivered_at_ms?: number | null;
            /** @description The file in which it stands, if it is too long to be said. */
            file?: string | null;
            /** @description The name of who gave it. */
            from: string;
            /**
             * Format: int64
             * @description When it was given.
             */
            given_at_ms: number;
            /** @description Its id. */
            id: string;
            /** @description The call that it is the result of. */
            invocation?: string | null;
            /** @description Whether that was over by then. */
            late: boolean;
            /** @description Its project. */
            project: string;
            /** @description The run of who began the chain that it is part of. */
            run: string;
            /** @description Its SHA-256. */
            sha256?: string | null;
            /** @description The name of who is to have it. */
            to: string;
            /** @description `message`, `github_issue`, `markdown`, `json` or `file_path`. */
            type: string;
            /** @description Whether the content is all of it. Of more than 16 KiB it is not; all of it stands in the file. */
            whole?: boolean;
        };
        /**
         * @description The ways to decide.
         * @enum {string}
         */
        ReviewDecision: "approve" | "changes" | "reject" | "again";
        /** @description What somebody can be called as. */
        RoleView: {
            /** @description Its agent: the one that it names, or that of the office. None if it is that of who calls. */
            agent?: string | null;
            /** @description What it is there for. */
            description?: string | null;
            /** @description The file that describes it; none if it is an agent as it is. */
            file?: string | null;
            /**
             * @description Whether it is there and nobody has anything for it to do: no call is open, and nothing that was written to it is
             *     unread. An agent that takes turns has ended its last one; of any other program that is not known.
             */
            idle: boolean;
            /** @description The model, if one was named. */
            model?: string | null;
            /** @description The name by which it is called. */
            name: string;
            /** @description Why it cannot be used, if it cannot. */
            problem?: string | null;
            /** @description The session that has it, or had it last. */
            session?: string | null;
            status?: components["schemas"]["SessionStatus"] | null;
        };
        /** @description What a verifier has said. */
        RoundView: {
            /** @description What it found, one by one. */
            criteria: components["schemas"]["CriterionView"][];
            /** @description Why there is no verdict: a `key` with its parameters. */
            failure?: Record<string, unknown> | null;
            /** @description Whether everything is as it has to be; null if it gave no verdict. */
            passed?: boolean | null;
            /** @description Who it was. */
            session?: string | null;
            /** @description In a sentence. */
            summary?: string | null;
        };
        /** @description A rule, in a form that can be shown. */
        RuleView: {
            /** @description The option of a card that allows it. */
            option: string;
            /** @description `call`, `prefix`, `file`, `directory` or `tool`. */
            scope: string;
            /**
             * @description Exactly what it allows: the command or the whole input, the beginning of commands, the file, the directory, or
             *     the tool.
             */
            text: string;
            /** @description The tool that it is about. */
            tool: string;
        };
        /** @description Something that was asked for. */
        RunView: {
            /**
             * Format: int32
             * @description How often the agent may try.
             */
            attempts_max?: number | null;
            /** @description How much may be used before a person is asked. */
            budget?: components["schemas"]["BudgetView"];
            /** @description The check, if there is one. */
            check?: string | null;
            /**
             * Format: int64
             * @description When.
             */
            created_at_ms: number;
            /** @description Which of its texts a list does not carry whole. */
            cut?: components["schemas"]["CutText"][];
            /**
             * Format: int64
             * @description When it ended.
             */
            ended_at_ms?: number | null;
            /** @description Its id. */
            id: string;
            outcome?: components["schemas"]["Outcome"] | null;
            /** @description Whether it goes through phases; how far it is stands under `/phases`. */
            phased?: boolean;
            /** @description The project. */
            project: components["schemas"]["ProjectView"];
            /** @description Who works on it. */
            sessions: components["schemas"]["SessionView"][];
            /** @description What was asked for, in one line. */
            title: string;
            /** @description What was used for it. */
            usage?: components["schemas"]["UsageView"];
        };
        /** @description A line of what a session printed. */
        SearchHitView: {
            /** @description The line after it. */
            after?: string | null;
            /** @description The agent's name. */
            agent: string;
            /**
             * Format: int64
             * @description When that process began, in UTC milliseconds.
             */
            at_ms: number;
            /** @description The line before it. */
            before?: string | null;
            /**
             * Format: int32
             * @description Which process of it.
             */
            launch: number;
            /** @description What a person calls that session. */
            name?: string | null;
            /**
             * Format: int64
             * @description The byte of the log at which the line begins, or at which the event begins that has it.
             */
            offset: number;
            /** @description Who printed it. */
            session: string;
            /** @description `out` or `err`. */
            stream: components["schemas"]["OutputStream"];
            /** @description The line; of a long one, its beginning. */
            text: string;
        };
        /** @description Lines of what sessions printed, those of the newest session first. */
        SearchView: {
            /** @description Where a search stopped that had read or found as much as it may: older sessions than this one are left. */
            before?: string | null;
            /** @description The lines. */
            hits: components["schemas"]["SearchHitView"][];
            /**
             * Format: int64
             * @description How many sessions were searched.
             */
            sessions: number;
            /**
             * Format: int64
             * @description How much of the logs of these sessions was not searched, because they are too long.
             */
            unsearched_bytes?: number;
        };
        /** @description What can be said of a secret. */
        SecretView: {
            /**
             * Format: int64
             * @description When, in milliseconds since 1970, UTC.
             */
            at_ms: number;
            /** @description Its name. */
            name: string;
            /** @description Whether it does not count as secret and is not masked. */
            plain?: boolean;
            /** @description Whether it may be given without asking. */
            reuse: boolean;
            /** @description The project or the session that it belongs to, by its id. */
            scope: string;
            /**
             * Format: int64
             * @description The change of the vault that made it.
             */
            version: number;
            /** @description `stored`, or where it is looked up: `env`, `file` or `cmd`. */
            what: string;
        };
        /**
         * @description How a session is.
         * @enum {string}
         */
        SessionStatus: "starting" | "active" | "checking" | "waiting_input" | "waiting_dependency" | "waiting_permission" | "waiting_review" | "waiting_agent" | "installing" | "paused" | "parked" | "interrupted" | "ending" | "completed" | "failed" | "cancelled";
        /** @description One agent at work. */
        SessionView: {
            /** @description Whose allowance it uses, in words that hold no key. */
            account?: string | null;
            /** @description The agent's name. */
            agent: string;
            /**
             * Format: int32
             * @description How often its work was checked.
             */
            attempts: number;
            /** @description The requests it waits for, oldest first. */
            blocked_by: string[];
            /** @description Whether it goes through a task file; how far it is stands under `/orchestrate`. */
            conducts?: boolean;
            /** @description The conversation that its CLI can resume. */
            conversation?: string | null;
            /**
             * Format: int64
             * @description When it was created.
             */
            created_at_ms: number;
            /** @description Which of its texts a list does not carry whole. */
            cut?: components["schemas"]["CutText"][];
            /** @description Where it works. */
            directory: string;
            /**
             * Format: int64
             * @description When it ended.
             */
            ended_at_ms?: number | null;
            /** @description What it has asked in the thin dialect and is not answered yet, oldest first; null for who is no main agent. */
            errands?: components["schemas"]["ErrandView"][] | null;
            /** @description Its id. */
            id: string;
            /**
             * @description Whether it is active and has a role for which nobody has anything to do: no call is open, and nothing that was
             *     written to it is unread.
             */
            idle?: boolean;
            /** @description Its processes so far, oldest first. */
            launches: components["schemas"]["LaunchView"][];
            /** @description What a person calls it. */
            name?: string | null;
            outcome?: components["schemas"]["Outcome"] | null;
            /** @description What a person allowed its CLI until it is over. */
            permissions?: components["schemas"]["PermissionView"][];
            /**
             * Format: int32
             * @description Its process, while it runs.
             */
            pid?: number | null;
            /** @description Whether that is any command rather than an agent. */
            plain?: boolean;
            /** @description The project. */
            project: components["schemas"]["ProjectView"];
            /** @description Whether it can be started again where it was. */
            resumable: boolean;
            /** @description What it works for. */
            run: string;
            /**
             * Format: int64
             * @description Since when it is so, in UTC milliseconds.
             */
            since_ms: number;
            /** @description How it is. */
            status: components["schemas"]["SessionStatus"];
            /** @description What was asked for, in one line. */
            title: string;
            /** @description Whether what it is told when it is started again is only in its environment, as `OSTLER_PROMPT`. */
            told_by_environment?: boolean;
            /** @description What its CLI says it used: tokens and cost. */
            usage?: components["schemas"]["UsageView"];
            wait?: components["schemas"]["WaitView"] | null;
            worktree?: components["schemas"]["WorktreeView"] | null;
        };
        /** @description How a request was settled. */
        SettledView: {
            /** @description With what: `answer` says which kind. */
            answer: Record<string, unknown>;
            /**
             * Format: int64
             * @description When.
             */
            at_ms: number;
            /** @description `person`, `expiry`, `repetition`, `vault`, `end`, `limit`, `change` or `rule`. */
            by: string;
            /** @description Whether it had expired by then. */
            late: boolean;
        };
        /**
         * @description Whose a sign-in is.
         * @enum {string}
         */
        SignInKind: "browser" | "token";
        /** @description A browser or a script that may come in. */
        SignInView: {
            /** @description Whether it is the one that asks. */
            current: boolean;
            /** @description Whether Ostler did not make it: another process has written it into the file. It lets nobody in. */
            forged?: boolean;
            /** @description Its id. */
            id: string;
            /** @description Whose it is. */
            kind: components["schemas"]["SignInKind"];
            /**
             * Format: int64
             * @description Since when, in milliseconds since 1970, UTC.
             */
            made_at_ms: number;
            /** @description What it is called. */
            name: string;
            /**
             * Format: int64
             * @description When it ends. A browser that comes back has 30 days from then on.
             */
            over_at_ms: number;
            /** @description Whether it may only look, and see no secrets. */
            read_only: boolean;
            /**
             * Format: int64
             * @description When it was used last, to the day.
             */
            used_at_ms?: number | null;
        };
        /** @description A browser that is signed in. The cookie comes beside it. There is no `Debug`: it holds the proof. */
        SignedInView: {
            /** @description The sign-in. */
            id: string;
            /** @description What is sent in `Ostler-Proof` with every request, beside the cookie. */
            proof: string;
            /** @description The server, as it stands in `Ostler-Server` of every answer. */
            server: string;
        };
        /** @description What needs somebody, and what runs. */
        StatusView: {
            /** @description Open requests, oldest first. */
            needs_you: components["schemas"]["RequestView"][];
            /**
             * Format: int64
             * @description The last event that this is true of.
             */
            seq: number;
            /** @description Sessions that are not over, oldest first. */
            sessions: components["schemas"]["SessionView"][];
        };
        /** @description One message of the stream. */
        StreamedEvent: {
            /** @description The event as JSON, or where the stream stands. */
            data: string;
            /** @description Its kind, or `hello`. */
            event: string;
            /** @description Its place in the journal; `hello` has none. */
            id?: string | null;
        };
        /** @description A socket of the server that another process has removed or replaced. The server listens there again. */
        TakenSocketView: {
            /**
             * Format: int64
             * @description When it happened last, in UTC milliseconds.
             */
            last_at_ms: number;
            /** @description Its path. */
            socket: string;
            /**
             * Format: int64
             * @description How often that happened since the server started.
             */
            times: number;
        };
        /** @description A time that somebody worked on a task. */
        TaskAttemptView: {
            /**
             * Format: int64
             * @description When it was begun, in UTC milliseconds.
             */
            begun_at_ms: number;
            /**
             * Format: int64
             * @description When it was over, if it is.
             */
            ended_at_ms?: number | null;
            /** @description Why it was not done; null if it was, or is not over. */
            failed?: string | null;
        };
        /** @description One of a task's criteria. */
        TaskCriterionView: {
            /** @description Whether its box is marked. */
            done: boolean;
            /** @description What has to hold. */
            text: string;
        };
        /** @description Everything about a task. */
        TaskDetailView: components["schemas"]["TaskView"] & {
            /** @description What stands below it in the file. */
            body: string;
            /** @description The tasks that depend on it. */
            then: string[];
        };
        /**
         * @description How a phase of a task file is.
         * @enum {string}
         */
        TaskPhaseState: "open" | "settled" | "closed";
        /** @description A phase of a task file. */
        TaskPhaseView: {
            /**
             * Format: int32
             * @description Its number.
             */
            number: number;
            /** @description How it is. */
            state: components["schemas"]["TaskPhaseState"];
            /** @description What its heading says. */
            title?: string | null;
        };
        /** @description Something that is wrong or strange in a task file. */
        TaskProblemView: {
            /** @description The same for programs. */
            about: Record<string, unknown>;
            /**
             * Format: int32
             * @description Where.
             */
            line: number;
            /** @description What, in a sentence. */
            message: string;
        };
        /**
         * @description How a task is.
         * @enum {string}
         */
        TaskState: "pending" | "ready" | "in_progress" | "completed" | "failed" | "blocked" | "skipped";
        /** @description One task. */
        TaskView: {
            /**
             * Format: int32
             * @description The phase that it waits for, with all before that.
             */
            after_phase?: number | null;
            /** @description The times that somebody worked on it, oldest first, as far as the log knows them. */
            attempts: components["schemas"]["TaskAttemptView"][];
            /** @description What has to hold when it is done. */
            criteria: components["schemas"]["TaskCriterionView"][];
            /** @description Whether it is on the longest chain of open tasks, which decides how long the rest takes. */
            critical: boolean;
            /** @description The files that it may change, as patterns. */
            files: string[];
            /** @description Its id. */
            id: string;
            /**
             * Format: int32
             * @description The line of the file that it begins in.
             */
            line: number;
            /** @description The tasks that it depends on. */
            needs: string[];
            /** @description Who is to do it. */
            owner?: string | null;
            /**
             * Format: int32
             * @description Its phase.
             */
            phase: number;
            /** @description How urgent it is: `first`, `critical`, `high`, `medium` or `low`. */
            priority: string;
            /** @description What they have asked, and nobody has answered: it waits for a person then. */
            request?: string | null;
            /** @description How much can go wrong: `low`, `medium`, `high` or `critical`. */
            risk?: string | null;
            /** @description The run that was asked for to do it, last. */
            run?: string | null;
            /** @description Who works or worked on it. */
            session?: string | null;
            /** @description How it is. */
            state: components["schemas"]["TaskState"];
            /** @description What it is called. */
            title: string;
            /** @description The command that shows that it is done. */
            verify?: string | null;
            waits?: components["schemas"]["TaskWaitView"] | null;
            /** @description Where it is to be done, if it says so. */
            worktree?: string | null;
        };
        /** @description What a task waits for. */
        TaskWaitView: {
            /** @description The task that runs, and that it may not run beside. */
            beside?: string | null;
            /**
             * Format: int32
             * @description The phase that has to be settled first.
             */
            phase?: number | null;
            /** @description Tasks that have to be settled first. */
            tasks: string[];
        };
        /** @description A project that has a task file, and how far it is. */
        TasksSummary: {
            /**
             * Format: int64
             * @description How many were given up.
             */
            failed: number;
            /** @description The task file, relative to its root. */
            file: string;
            /**
             * Format: int64
             * @description How many somebody works on.
             */
            in_progress: number;
            /**
             * Format: int64
             * @description How many things in the file keep it from being worked with.
             */
            problems: number;
            /** @description The project. */
            project: components["schemas"]["ProjectView"];
            /**
             * Format: int64
             * @description How many are completed or skipped.
             */
            settled: number;
            /**
             * Format: int64
             * @description How many tasks there are.
             */
            tasks: number;
        };
        /** @description The tasks of a project: its task file with its state and log. */
        TasksView: {
            /** @description The task file, relative to the project's root; null if there is none. */
            file?: string | null;
            /**
             * Format: int64
             * @description How many tasks are left off here because there are too many.
             */
            left_off: number;
            /** @description What `ostler resolve` would answer. */
            line: string;
            /** @description Where a task file is looked for, in this order. */
            looked_for: string[];
            /** @description The phases that have tasks, by number. */
            phases: components["schemas"]["TaskPhaseView"][];
            /** @description What keeps the file from being worked with, most important first. */
            problems: components["schemas"]["TaskProblemView"][];
            /** @description The project. */
            project: components["schemas"]["ProjectView"];
            /** @description Why the state file cannot be used; the done marks of the task file count alone then. */
            state_problem?: string | null;
            /** @description The tasks, in the order of the file. */
            tasks: components["schemas"]["TaskView"][];
            /** @description What is strange in it, and how it was taken. */
            warnings: components["schemas"]["TaskProblemView"][];
        };
        /** @description A token that was just made. There is no `Debug`: it is a key. */
        TokenView: {
            /** @description What is known of it. */
            sign_in: components["schemas"]["SignInView"];
            /** @description What a script sends as `Authorization: Bearer …`. It is said this once. */
            token: string;
        };
        /** @description A call, in the parts that a person reads. The parts together are the whole input. */
        ToolCallView: {
            /** @description The lines that change in the file, with up to three around them. */
            changes?: components["schemas"]["ChangedLine"][];
            /** @description The shell command. */
            command?: string | null;
            /** @description The file, relative to the session's directory or its project if it is below one of them. */
            path?: string | null;
            /** @description All other fields of the input, as the CLI gave them. */
            rest: Record<string, unknown>;
        };
        /** @description What a repository would run, and what of it a person lets it. */
        TrustView: {
            /** @description The commands. */
            commands: components["schemas"]["TrustedView"][];
            /**
             * Format: int64
             * @description When somebody last agreed to something; none if nobody did.
             */
            given_at_ms?: number | null;
            /** @description The root of the project. */
            root: string;
        };
        /** @description A command of a repository. */
        TrustedView: {
            /** @description The file that it stands in. */
            file: string;
            /** @description Stands for all of it. */
            hash: string;
            /** @description What names it, such as `filter.lfs.clean` or `agents.reviewer`. */
            key: string;
            /** @description Whether somebody agreed to it. */
            trusted: boolean;
            /** @description The command; none where only what was agreed to is listed, since it is not kept. */
            value?: string | null;
        };
        /**
         * @description Why something was not checked for secrets.
         * @enum {string}
         */
        UncheckedWork: "vault" | "long";
        /** @description What opens the vault. There is no `Debug`: it holds the passphrase. */
        Unlock: {
            /** @description The passphrase. */
            passphrase: string;
        };
        /** @description What a role has done in a worktree of its own and is not merged, though the role is over. */
        UnmergedView: {
            /** @description Why it is not merged, if that was found out. */
            message?: string | null;
            /** @description Where a person is asked about it. */
            request?: string | null;
            /** @description Its role. */
            role: string;
            /** @description The session that has done it. */
            session: string;
            /** @description How far its worktree has got: `testing`, `merging` or `not_merged`. */
            state: string;
        };
        /** @description What was used, by something. */
        UsageReport: {
            /** @description By what: `session`, `run`, `project`, `agent`, `account` or `day`. */
            by: string;
            /** @description The parts, those that used most first; days in their order. */
            rows: components["schemas"]["UsageRow"][];
            /**
             * Format: int64
             * @description Only what was reported since then, in UTC milliseconds, to a quarter of an hour.
             */
            since_ms?: number | null;
            /** @description All of them together. */
            total: components["schemas"]["UsageRow"];
        };
        /** @description What was used by one session, run, project, agent, account, or on one day. */
        UsageRow: {
            /** @description For a session or a run: how much the run may use. */
            budget?: components["schemas"]["BudgetView"];
            /** @description Which: an id, a name, or a date such as 2026-11-16. Empty for what has none. */
            key: string;
            /** @description What a person calls it. */
            name: string;
            /**
             * Format: int64
             * @description How many sessions reported something.
             */
            sessions: number;
            /**
             * Format: int64
             * @description How many of them stated no cost: the sum is then too low.
             */
            sessions_without_cost: number;
            /** @description What was used. */
            usage: components["schemas"]["UsageView"];
        };
        /** @description Tokens and cost. What no CLI reported is null; no token is counted in two of the figures. */
        UsageView: {
            /**
             * Format: int64
             * @description Tokens read from the provider's cache.
             */
            cache_read_tokens?: number | null;
            /**
             * Format: int64
             * @description Tokens written to the provider's cache.
             */
            cache_write_tokens?: number | null;
            /**
             * Format: double
             * @description Cost in US dollars: what CLIs state, or what the configured prices give.
             */
            cost_usd?: number | null;
            /**
             * Format: int64
             * @description Tokens sent, without those of the cache.
             */
            input_tokens?: number | null;
            /**
             * Format: int64
             * @description Tokens received, without those of reasoning.
             */
            output_tokens?: number | null;
            /**
             * Format: int64
             * @description Tokens spent on reasoning.
             */
            reasoning_tokens?: number | null;
            /**
             * Format: int64
             * @description All tokens together.
             */
            tokens?: number | null;
        };
        /**
         * @description Whether the vault of secrets can be used.
         * @enum {string}
         */
        VaultState: "ready" | "locked" | "unmade";
        /** @description A wait that ends by itself. */
        WaitView: {
            /** @description For `limit`: the account. */
            account?: string | null;
            /**
             * @description `retry`: it goes on after an error. `limit`: its account has hit a limit. `cli_retry`: its CLI tries again by
             *     itself at a limit.
             */
            kind: string;
            /** @description For limits: in the words of whoever said it. */
            message?: string | null;
            /**
             * Format: int64
             * @description For `limit`: when it resets, if somebody named that.
             */
            reset_at_ms?: number | null;
            /**
             * Format: int32
             * @description For `retry`: after so many a person is asked.
             */
            retries_max?: number | null;
            /**
             * Format: int32
             * @description For `retry`: the number of the retry that follows.
             */
            retry?: number | null;
            /**
             * Format: int64
             * @description Until when, in UTC milliseconds; for `limit`, the reset or the next try. Null if nobody says.
             */
            until_ms?: number | null;
        };
        /** @description A secret that is meant. */
        WhichSecret: {
            /** @description Where in its project, absolute. */
            directory?: string | null;
            /** @description Its name. */
            name: string;
            /** @description The project, by its id or name, instead of a directory. */
            project?: string | null;
            /** @description The session that alone was given it, instead of a project. */
            session?: string | null;
        };
        /** @description Secrets in what a session has changed. */
        WorkSecretsView: {
            /** @description Each secret with each file that has it; at most 20. */
            found: components["schemas"]["FoundSecretView"][];
            /**
             * Format: int64
             * @description How many more there are.
             */
            more: number;
            /** @description What could not be checked, so that nothing found there does not mean that nothing is there. */
            unchecked: components["schemas"]["UncheckedWork"][];
        };
        /** @description A branch and directory of its own. */
        WorktreeView: {
            /** @description The branch. */
            branch: string;
            /** @description Whether it is not merged because both sides changed the same places. */
            conflict?: boolean;
            /** @description Which files are in the way. */
            files: string[];
            /** @description The first files that the checkout held, no commit had, and it began without. */
            left_out?: string[];
            /**
             * Format: int64
             * @description How many more such files there are.
             */
            left_out_more?: number;
            /** @description Why not, or where its work is kept. */
            message?: string | null;
            /** @description The directory. */
            path: string;
            /**
             * @description How far it has got: `wanted`, `made`, `testing`, `merging`, `not_merged`, `merged`, `discarding`,
             *     `not_discarded` or `discarded`.
             */
            state: string;
            /** @description The branch it is merged into. */
            target?: string | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type AgentView = components['schemas']['AgentView'];
export type AnnouncedView = components['schemas']['AnnouncedView'];
export type ApprovedView = components['schemas']['ApprovedView'];
export type ArtifactView = components['schemas']['ArtifactView'];
export type AskView = components['schemas']['AskView'];
export type BudgetView = components['schemas']['BudgetView'];
export type ChangedLine = components['schemas']['ChangedLine'];
export type CheckpointView = components['schemas']['CheckpointView'];
export type ClosedView = components['schemas']['ClosedView'];
export type CriterionView = components['schemas']['CriterionView'];
export type CutText = components['schemas']['CutText'];
export type DiagramView = components['schemas']['DiagramView'];
export type ErrandView = components['schemas']['ErrandView'];
export type EventView = components['schemas']['EventView'];
export type ExecutionStatus = components['schemas']['ExecutionStatus'];
export type ExecutionView = components['schemas']['ExecutionView'];
export type ExportView = components['schemas']['ExportView'];
export type ExportedView = components['schemas']['ExportedView'];
export type FieldView = components['schemas']['FieldView'];
export type FormView = components['schemas']['FormView'];
export type FoundSecretView = components['schemas']['FoundSecretView'];
export type GateCheckView = components['schemas']['GateCheckView'];
export type GateFileView = components['schemas']['GateFileView'];
export type GateProblemView = components['schemas']['GateProblemView'];
export type GateView = components['schemas']['GateView'];
export type InfoView = components['schemas']['InfoView'];
export type InstallView = components['schemas']['InstallView'];
export type InvocationStatus = components['schemas']['InvocationStatus'];
export type InvocationView = components['schemas']['InvocationView'];
export type JunitView = components['schemas']['JunitView'];
export type LaunchView = components['schemas']['LaunchView'];
export type LineChange = components['schemas']['LineChange'];
export type LinkView = components['schemas']['LinkView'];
export type LogLineView = components['schemas']['LogLineView'];
export type LogSearchView = components['schemas']['LogSearchView'];
export type LookedView = components['schemas']['LookedView'];
export type LoopCounts = components['schemas']['LoopCounts'];
export type LoopEndsView = components['schemas']['LoopEndsView'];
export type LoopExchange = components['schemas']['LoopExchange'];
export type LoopPhaseView = components['schemas']['LoopPhaseView'];
export type LoopReport = components['schemas']['LoopReport'];
export type LoopTaskView = components['schemas']['LoopTaskView'];
export type LoopView = components['schemas']['LoopView'];
export type MarkView = components['schemas']['MarkView'];
export type MemoryFileView = components['schemas']['MemoryFileView'];
export type MemoryLineView = components['schemas']['MemoryLineView'];
export type MemorySearchView = components['schemas']['MemorySearchView'];
export type MemorySectionView = components['schemas']['MemorySectionView'];
export type NewAnswer = components['schemas']['NewAnswer'];
export type NewClose = components['schemas']['NewClose'];
export type NewDemo = components['schemas']['NewDemo'];
export type NewExecution = components['schemas']['NewExecution'];
export type NewExport = components['schemas']['NewExport'];
export type NewLink = components['schemas']['NewLink'];
export type NewLook = components['schemas']['NewLook'];
export type NewLoop = components['schemas']['NewLoop'];
export type NewMessage = components['schemas']['NewMessage'];
export type NewOfficeMessage = components['schemas']['NewOfficeMessage'];
export type NewPhases = components['schemas']['NewPhases'];
export type NewProjectPlace = components['schemas']['NewProjectPlace'];
export type NewPrune = components['schemas']['NewPrune'];
export type NewRestore = components['schemas']['NewRestore'];
export type NewResume = components['schemas']['NewResume'];
export type NewReview = components['schemas']['NewReview'];
export type NewRevocation = components['schemas']['NewRevocation'];
export type NewRun = components['schemas']['NewRun'];
export type NewSecret = components['schemas']['NewSecret'];
export type NewSessionName = components['schemas']['NewSessionName'];
export type NewSignIn = components['schemas']['NewSignIn'];
export type NewSize = components['schemas']['NewSize'];
export type NewToken = components['schemas']['NewToken'];
export type NewTrust = components['schemas']['NewTrust'];
export type NotificationsView = components['schemas']['NotificationsView'];
export type NotifyChannelView = components['schemas']['NotifyChannelView'];
export type NotifyKind = components['schemas']['NotifyKind'];
export type NotifyState = components['schemas']['NotifyState'];
export type NotifyTestView = components['schemas']['NotifyTestView'];
export type NotifyType = components['schemas']['NotifyType'];
export type OfficeView = components['schemas']['OfficeView'];
export type Outcome = components['schemas']['Outcome'];
export type OutcomeKind = components['schemas']['OutcomeKind'];
export type OutputForm = components['schemas']['OutputForm'];
export type OutputStream = components['schemas']['OutputStream'];
export type PageState = components['schemas']['PageState'];
export type PageView = components['schemas']['PageView'];
export type PermissionView = components['schemas']['PermissionView'];
export type PhaseView = components['schemas']['PhaseView'];
export type PhasesState = components['schemas']['PhasesState'];
export type PhasesView = components['schemas']['PhasesView'];
export type PieceView = components['schemas']['PieceView'];
export type PiecesView = components['schemas']['PiecesView'];
export type Problem = components['schemas']['Problem'];
export type ProjectSummary = components['schemas']['ProjectSummary'];
export type ProjectView = components['schemas']['ProjectView'];
export type PrunedView = components['schemas']['PrunedView'];
export type ReportFormat = components['schemas']['ReportFormat'];
export type RequestState = components['schemas']['RequestState'];
export type RequestView = components['schemas']['RequestView'];
export type RestoreView = components['schemas']['RestoreView'];
export type ResultView = components['schemas']['ResultView'];
export type ReviewDecision = components['schemas']['ReviewDecision'];
export type RoleView = components['schemas']['RoleView'];
export type RoundView = components['schemas']['RoundView'];
export type RuleView = components['schemas']['RuleView'];
export type RunView = components['schemas']['RunView'];
export type SearchHitView = components['schemas']['SearchHitView'];
export type SearchView = components['schemas']['SearchView'];
export type SecretView = components['schemas']['SecretView'];
export type SessionStatus = components['schemas']['SessionStatus'];
export type SessionView = components['schemas']['SessionView'];
export type SettledView = components['schemas']['SettledView'];
export type SignInKind = components['schemas']['SignInKind'];
export type SignInView = components['schemas']['SignInView'];
export type SignedInView = components['schemas']['SignedInView'];
export type StatusView = components['schemas']['StatusView'];
export type StreamedEvent = components['schemas']['StreamedEvent'];
export type TakenSocketView = components['schemas']['TakenSocketView'];
export type TaskAttemptView = components['schemas']['TaskAttemptView'];
export type TaskCriterionView = components['schemas']['TaskCriterionView'];
export type TaskDetailView = components['schemas']['TaskDetailView'];
export type TaskPhaseState = components['schemas']['TaskPhaseState'];
export type TaskPhaseView = components['schemas']['TaskPhaseView'];
export type TaskProblemView = components['schemas']['TaskProblemView'];
export type TaskState = components['schemas']['TaskState'];
export type TaskView = components['schemas']['TaskView'];
export type TaskWaitView = components['schemas']['TaskWaitView'];
export type TasksSummary = components['schemas']['TasksSummary'];
export type TasksView = components['schemas']['TasksView'];
export type TokenView = components['schemas']['TokenView'];
export type ToolCallView = components['schemas']['ToolCallView'];
export type TrustView = components['schemas']['TrustView'];
export type TrustedView = components['schemas']['TrustedView'];
export type UncheckedWork = components['schemas']['UncheckedWork'];
export type Unlock = components['schemas']['Unlock'];
export type UnmergedView = components['schemas']['UnmergedView'];
export type UsageReport = components['schemas']['UsageReport'];
export type UsageRow = components['schemas']['UsageRow'];
export type UsageView = components['schemas']['UsageView'];
export type VaultState = components['schemas']['VaultState'];
export type WaitView = components['schemas']['WaitView'];
export type WhichSecret = components['schemas']['WhichSecret'];
export type WorkSecretsView = components['schemas']['WorkSecretsView'];
export type WorktreeView = components['schemas']['WorktreeView'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
